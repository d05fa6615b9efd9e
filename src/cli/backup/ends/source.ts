import type { AllRefs } from '../../../git/refs.ts'
import type { FetchSource } from '../../../git/program.ts'
import type { RepositoryName } from '../repository-name.ts'
import type { StateFolder } from '../state.ts'

/** The source of a backup: a store on this machine, or a project of a server. */
export interface Source {
  /** Its name in the report. */
  readonly name: string
  readonly projects: readonly string[]
  /** Whether these are all projects of the store. */
  readonly isWhole: boolean
  /** Keys, secrets and webhooks; absent for a server, which does not give them out. */
  readonly state?: StateFolder
  /** Every repository of these projects, even if it cannot be served. */
  list(): Promise<readonly SourceRepository[]>
  close(): Promise<void>
}

export interface SourceRepository extends RepositoryName {
  readonly objects: FetchSource
  /** The current refs. Throws a Refusal with the reason if the repository cannot be backed up. */
  refs(): Promise<AllRefs>
}
