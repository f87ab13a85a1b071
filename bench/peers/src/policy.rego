# The same rules as policy.cedar.
package toolwarden

default verdict := "free"

verdict := "refuse" if {
	refuse
} else := "ask" if {
	ask
}

refuse if input.tool in {"Format", "Shutdown", "Registry", "KernelModule"}

refuse if {
	uses_cwd
	input.cwd_class in {"outside", "invalid"}
}

uses_cwd if input.tool == "Bash"

uses_cwd if {
	input.tool == "ManagedProcess"
	input.action == "start"
}

ask if startswith(input.tool, "mcp__")

ask if input.tool == "Delete"

ask if {
	input.tool == "SSHManager"
	input.action in {
		"exec",
		"send_input",
		"sftp_write_text",
		"sftp_mkdir",
		"sftp_rename",
		"sftp_delete",
		"sftp_upload",
		"sftp_download",
	}
}
