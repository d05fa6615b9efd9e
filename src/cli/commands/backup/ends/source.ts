import type { AllRefs } from '../../../../git/refs/list-refs.ts'
import type { FetchSource } from '../../../../git/process/fetch-objects.ts'
import type { RepositoryName } from '../repository-name.ts'
import type { StateFolder } from '../state.ts'

/** What is backed up: a store on this machine, or one behind a server. */
export interface Source {
  /** How the report calls it. */
  readonly name: string
  /** The projects that are backed up. */
  readonly projects: readonly string[]
  /** Whether these are all there are. */
  readonly isWhole: boolean
  /** What it has beside repositories; a server does not hand that out. */
  readonly state?: StateFolder
  /** Every repository of these projects, served or not. */
  list(): Promise<readonly SourceRepository[]>
  close(): Promise<void>
}

export interface SourceRepository extends RepositoryName {
  readonly objects: FetchSource
  /** Its refs as they are now. Refuses a repository that cannot be backed up, and says why. */
  refs(): Promise<AllRefs>
}
