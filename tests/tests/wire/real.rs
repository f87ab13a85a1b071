//! Real servers, where somebody names them: `TOOLWARDEN_MCP_CONFIG` is the path of an `mcpServers` file. Each is listed in
//! the era that it speaks and, where it knows both, in each; the tools are the same.

use toolwarden::mcp::config::{Environment, McpConfig};
use toolwarden::mcp::listing::{ListLimits, list_once, list_tools};
use toolwarden::mcp::{Connection, Era, EraChoice};

use crate::fixture::{options, quick, soon};

#[tokio::test]
async fn real_servers_are_listed() {
    let Ok(file) = std::env::var("TOOLWARDEN_MCP_CONFIG") else {
        eprintln!("skipped: TOOLWARDEN_MCP_CONFIG names no file");
        return;
    };
    let config = McpConfig::parse(&file, &std::fs::read(&file).unwrap(), &Environment::of_process()).unwrap();
    for server in &config.servers {
        let connection = Connection::open(server, &options(), soon())
            .await
            .unwrap_or_else(|error| panic!("{}: {error}", server.name));
        let listing = list_tools(&connection, &ListLimits::default(), soon()).await.unwrap();
        let (again, oddities) =
            (list_tools(&connection, &ListLimits::default(), soon()).await.unwrap(), connection.oddities());
        eprintln!(
            "{}: {:?} {} with {} tools; {oddities:?}; ended with {:?}",
            server.name,
            listing.server.era,
            listing.server.version,
            listing.tools.len(),
            connection.close().await
        );
        assert_eq!(again.tools, listing.tools, "{}", server.name);
        if listing.server.era == Era::Modern {
            let mut options = options();
            options.profile.era = EraChoice::Only(Era::Legacy);
            match list_once(server, &options, &ListLimits::default(), quick(), soon()).await {
                Ok(legacy) => {
                    eprintln!("{}: legacy {} too, {} tools", server.name, legacy.server.version, legacy.tools.len());
                }
                Err(error) => eprintln!("{}: no legacy: {error}", server.name),
            }
        }
    }
}
