"""Messages, files and stored values as bytes and back: JSON, MessagePack, and the limits of both. Pure."""
