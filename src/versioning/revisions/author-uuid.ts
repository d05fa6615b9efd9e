import { v5 as uuidv5 } from 'uuid'

/** The id that stands for a git author, `Name <email>`, where clients know people by UUIDs only (interface 2.30): always the same one. */
export function authorUuid(author: string): string {
  return uuidv5(author, uuidv5.URL)
}
