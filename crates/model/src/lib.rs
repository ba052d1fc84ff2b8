//! The shared nouns of linerate and their JSON schema.
