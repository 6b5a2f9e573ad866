"""The playground as files: in this process, in Pyodide by Node, and in Chromium."""
