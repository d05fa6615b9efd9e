import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import type { CrashServer } from './open-server.ts'
import type { Random } from '../../../test/support/values/random.ts'

/** A write that may be done to a store. */
export interface CrashWrite {
  /** What it is called where it fails. */
  readonly name: string
  /** Repositories that must have a commit with this message, all or none of them; for a write to several. */
  readonly together?: { readonly message: string; readonly folders: readonly string[] }
  /** Refs of a repository that are made, all or none of them; for a write that makes several. */
  readonly made?: { readonly folder: string; readonly refs: readonly string[] }
  /** The folder of a repository that is removed, or brought back. */
  readonly removal?: { readonly folder: string; readonly isBack: boolean }
  /** Does it, and answers what must be there from then on. */
  run(server: CrashServer): Promise<Answered>
}

/** What an answered write vouches for. */
export interface Answered {
  /** Artifacts, all of whose refs are as they must be or behind that from now on. */
  readonly artifacts: readonly ArtifactView[]
  /** The id of a new API key. */
  readonly apiKey?: string
}

/** Thinks of a write to what is there; `n` is a number that no other write of the history has. Undefined where there is nothing to write to. */
export type Plan = (server: CrashServer, random: Random, n: number) => Promise<CrashWrite | undefined>

/** Who writes. */
export const context = { actor: { id: 'id', name: 'Ann', email: 'ann@example.com', mayDeploy: true } }
