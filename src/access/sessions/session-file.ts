import { z } from 'zod'
import { documentsOf } from '../../storage/documents/file-documents.ts'
import type { Fs } from '../../storage/fs.ts'
import { type ChangedRecord, JsonRecordFile } from '../../storage/json-record-file.ts'

/** A session or a link as `sessions.json` keeps it: whose key it stands for, and a hash of its token. */
export type SessionRecord = Readonly<z.infer<typeof record>>

const record = z.strictObject({
  /** Hex SHA-256 of the token. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  key_id: z.uuid(),
  /** Of SVC_API_KEY, which is stored nowhere: what only the token and that key together make. */
  seal: z.string().optional(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime(),
})

/** Who is signed in to a project, and the links that sign somebody in once. */
export interface SessionRecords {
  readonly sessions: readonly SessionRecord[]
  readonly links: readonly SessionRecord[]
}

const stored = z.strictObject({
  format: z.literal(1),
  sessions: z.array(record).readonly(),
  links: z.array(record).readonly(),
})
type StoredSessions = z.infer<typeof stored>

const sessionFile = new JsonRecordFile<StoredSessions>({
  schema: stored,
  damage: (path, why) =>
    `${path} is not a list of sessions: ${why}. Nothing but who is signed in is lost: remove it, and sign in again.`,
})

/** Where a project's sessions are, inside the store and outside every repository. */
export function sessionFilePath(storeDir: string, project: string): string {
  return `${storeDir}/${project}/sessions.json`
}

/** The project's sessions and links, those that are over included; none if there is no file. Refuses a file it cannot read, by its path. */
export function readSessionFile(fs: Fs, storeDir: string, project: string): SessionRecords {
  return sessionFile.read(fs, sessionFilePath(storeDir, project)) ?? NOBODY
}

/**
 * Replaces them by what `change` makes of them; once this resolves, they are durable. A file that cannot be read is told to `onDamage`, and
 * replaced.
 */
export function updateSessionFile(
  fs: Fs,
  storeDir: string,
  project: string,
  onDamage: (error: unknown) => void,
  change: (records: SessionRecords) => SessionRecords,
): Promise<void> {
  const changed = (before: SessionRecords = NOBODY): ChangedRecord<StoredSessions, void> => {
    const { sessions, links } = change(before)
    return { record: { format: 1, sessions, links }, answer: undefined }
  }
  return sessionFile.update(documentsOf(fs), sessionFilePath(storeDir, project), changed, { onDamage })
}

const NOBODY: SessionRecords = { sessions: [], links: [] }
