import type { Family } from '../../registry/families.ts'
import { folder } from './request-schemas.ts'

/** The folder of a record, in creates and in edits. */
const CREATED = { folder: folder.optional() }
const EDITED = { folder: folder.nullish() }

/** The field `folder` of a create; environments lie in no folder, so theirs has none (interface 18.1). */
export function folderField({ pins }: Family): typeof CREATED {
  // A schema without the field reads it as absent, which it may be.
  return pins ? ({} as typeof CREATED) : CREATED
}

/** The field `folder` of an edit, where null is the root. */
export function folderEdit({ pins }: Family): typeof EDITED {
  return pins ? ({} as typeof EDITED) : EDITED
}

/** What a request to an environment is told that sends a folder. */
export function folderElsewhere({ pins }: Family): { folder?: string } {
  return pins ? { folder: 'environments lie in no folder; leave it out' } : {}
}
