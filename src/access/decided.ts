import { hash } from 'node:crypto'

/** That an attempt at a keyed request put a commit on a ref, or was about to: the name of an empty file beside its intent. */
export interface Decided {
  /** The last twelve digits of the artifact's id. */
  readonly digits: string
  readonly ref: string
  readonly commit: string
  readonly met?: RowCounts | undefined
}

/** How many rows of the request equal another one (`collapsed`), and how many gave way to a later one (`replaced`). */
export interface RowCounts {
  readonly collapsed: number
  readonly replaced: number
}

/**
 * The name of the file; `intent` is that of the intent's, which is a hash of the credential and the key. Names without counts
 * are of requests that bring no rows, and of earlier versions.
 */
export function decidedFile(intent: string, { digits, ref, commit, met }: Decided): string {
  const counts = met ? `.${met.collapsed}-${met.replaced}` : ''
  return `${intent}.${digits}.${hash('sha256', ref).slice(0, 16)}.${commit}${counts}.decided`
}

/** A commit that was decided, and what became of the rows that were sent for it. */
export interface DecidedCommit {
  readonly commit: string
  readonly met: RowCounts | undefined
}

/** The commits that these files say were decided for a ref. */
export function decidedIn(
  files: Iterable<string>,
  intent: string,
  digits: string,
  ref: string,
): DecidedCommit[] {
  const decided = new Map<string, DecidedCommit>()
  for (const file of files) {
    const [, commit, collapsed, replaced] = /\.([0-9a-f]{40})(?:\.(\d+)-(\d+))?\.decided$/.exec(file) ?? []
    if (commit === undefined) continue
    const met =
      collapsed === undefined ? undefined : { collapsed: Number(collapsed), replaced: Number(replaced) }
    if (file === decidedFile(intent, { digits, ref, commit, met })) decided.set(commit, { commit, met })
  }
  return [...decided.values()]
}
