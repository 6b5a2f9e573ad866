"""Text for people: errors, amounts, and strangers' words made harmless. Pure: it knows no screen."""
