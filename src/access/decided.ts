import { hash } from 'node:crypto'

/** That an attempt at a keyed request put a commit on a ref, or was about to: the name of an empty file beside its intent. */
export interface Decided {
  /** The last twelve digits of the artifact's id. */
  readonly digits: string
  readonly ref: string
  readonly commit: string
}

/** The name of the file; `intent` is that of the intent's, which is a hash of the credential and the key. */
export function decidedFile(intent: string, { digits, ref, commit }: Decided): string {
  return `${intent}.${digits}.${hash('sha256', ref).slice(0, 16)}.${commit}.decided`
}

/** The commits that these files say were decided for a ref. */
export function decidedIn(files: Iterable<string>, intent: string, digits: string, ref: string): string[] {
  const commits = new Set<string>()
  for (const file of files) {
    const commit = /\.([0-9a-f]{40})\.decided$/.exec(file)?.[1]
    if (commit !== undefined && file === decidedFile(intent, { digits, ref, commit })) commits.add(commit)
  }
  return [...commits]
}
