"""The playground in a browser: its channels as pages, and their server."""
