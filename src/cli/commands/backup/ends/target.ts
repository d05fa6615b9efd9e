import type { AllRefs } from '../../../../git/refs/list-refs.ts'
import type { Restored } from '../../../../versioning/artifacts/restore-artifact.ts'
import type { RepositoryName } from '../repository-name.ts'
import type { StateFolder } from '../state.ts'

/** Where a backup is restored to: a store on this machine, or one behind a server. */
export interface Target {
  /** How the report calls it. */
  readonly name: string
  /** What it has beside repositories; a server takes none of that. */
  readonly state?: StateFolder
  /** Brings one repository back from its mirror, with these of its refs. */
  restore(name: RepositoryName, mirror: string, refs: AllRefs): Promise<Restored>
  /** After the last: what would not be served, each in a sentence. */
  check(): Promise<string[]>
  close(): Promise<void>
}
