"""Tools of MCP servers that an editor hands over: started with a session, offered to its model, ended with it."""
