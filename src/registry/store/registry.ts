import { basename } from 'node:path'
import { v7 as uuidv7 } from 'uuid'
import type { AllowedSigner, SigningKey } from '../../git/signing.ts'
import type { ProjectStore } from '../../git/store.ts'
import type { DocumentLimits } from '../payload/document-limits.ts'
import { DOCUMENT_LIMITS } from '../payload/document-limits.ts'
import type { Family } from '../payload/family.ts'
import { ArtifactIndex } from '../index/artifact-index.ts'
import type { RepositoryProblem } from '../index/damaged-repositories.ts'
import { RevisionCache } from '../revisions/stored-revision.ts'
import type { RecordedArtifact } from '../artifacts/artifact-view.ts'
import { Trash } from '../artifacts/trash.ts'
import type { Pin } from './reference.ts'

/** Settings of the service that affect stored data or answers. */
export interface RegistrySettings {
  /** `<PUBLIC_URL>/services`: a `data.url` under it is derived on read and never stored (interface 7.4). */
  readonly servicesBase: string
  readonly now: () => Date
  readonly signing?: Signing
  readonly limits?: DocumentLimits
  /** Whether payloads come from clients of the existing service. */
  readonly isExisting?: boolean
  /** Called for repositories of a project that are not served, or left out of lists. */
  readonly onProblem?: (project: string, problem: RepositoryProblem) => void
}

/** The key that signs the service's commits, if any, and the trusted keys, its own included. */
export interface Signing {
  readonly key: SigningKey | undefined
  readonly allowed: readonly AllowedSigner[]
}

/** What a key that is limited to folders sees of a project (interface 18.6); see limitRegistry. */
export interface RegistryLimit {
  readonly whole: Registry
  /** Folders, or folders and `/**`. */
  readonly folders: readonly string[]
  sees(artifact: Pick<RecordedArtifact, 'family' | 'record'>): boolean
  /** Whether the artifact whose digits the id ends in is seen, as last looked at. */
  seesId(id: string): boolean
  /** Whether all that a pin names is seen. */
  seesPin(pin: Pin): Promise<boolean>
  /** Refuses with `outside_folders` to write to a folder that is none of them. */
  assertIncludes(folder: string): void
}

/** One project's artifacts: their store, their index, and decoded content. */
export class Registry {
  readonly store: ProjectStore
  readonly index: ArtifactIndex
  readonly families: readonly Family[]
  readonly servicesBase: string
  readonly now: () => Date
  readonly signing: Signing
  readonly limits: DocumentLimits
  readonly isExisting: boolean
  readonly trash: Trash
  /** What limits it, if it is one of a key that is limited to folders. */
  readonly limit?: RegistryLimit
  private readonly caches: ReadonlyMap<Family, RevisionCache>

  constructor(store: ProjectStore, families: readonly Family[], settings: RegistrySettings) {
    this.store = store
    this.families = families
    this.servicesBase = settings.servicesBase
    this.now = settings.now
    this.signing = settings.signing ?? UNSIGNED
    this.limits = settings.limits ?? DOCUMENT_LIMITS
    this.isExisting = settings.isExisting ?? false
    this.caches = new Map(
      families.map((family) => [
        family,
        new RevisionCache(family, this.limits, this.servicesBase.replace(/services$/, 'git')),
      ]),
    )
    const revisions = this.revisions.bind(this)
    const writer = `${process.pid}-${uuidv7()}`
    this.index = new ArtifactIndex(store, families, revisions, writer, (problem) =>
      settings.onProblem?.(basename(store.folder), problem),
    )
    this.trash = new Trash(store, families, revisions)
  }

  /** The registry of the whole project: this one, unless it is limited. */
  get whole(): Registry {
    return this.limit?.whole ?? this
  }

  /** The family whose payloads are deployments. */
  get environments(): Family {
    const family = this.families.find(({ pins }) => pins)
    if (!family) throw new Error('the registry does not serve environments')
    return family
  }

  revisions(family: Family): RevisionCache {
    const cache = this.caches.get(family)
    if (!cache) throw new Error(`the registry does not serve ${family.folder}`)
    return cache
  }
}

const UNSIGNED: Signing = { key: undefined, allowed: [] }
