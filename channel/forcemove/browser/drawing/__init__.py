"""The parts of a channel's page as values, one module for each part: what the templates write down. Pure, and no markup
but that of pictures which were checked."""
