import type { CacheFile } from '../../storage/cache-file.ts'
import type { DecisionNote, NameClaim } from './arbiter.ts'
import type { GitObject, ObjectKind, Oid } from '../objects/object.ts'
import { hashObject } from '../objects/object.ts'
import type { ObjectDatabase } from '../objects/object-database.ts'
import type { SequentialPackReader } from '../packs/sequential-pack-reader.ts'
import type { PackableObject } from '../packs/pack-writer.ts'
import type { RefMove } from '../refs/ref-move.ts'
import type { StagedPack } from './pack-staging.ts'
import type { Transaction, Trial } from './transaction.ts'

/** The refs that a draft begins with. */
export interface BaseRefs {
  /** Those that a look at the disk covers. */
  readonly all: ReadonlyMap<string, Oid>
  /** Any one; asked again, the answer is the same. */
  get(name: string): Oid | undefined
}

/** Refs and objects on top of a base (the disk, or the drafts of earlier jobs of the batch). */
export class PendingChanges implements Transaction {
  readonly cacheFile: (name: string) => CacheFile
  readonly #base: BaseRefs | PendingChanges
  readonly #store: ObjectDatabase
  readonly #moves = new Map<string, string | undefined>()
  readonly #following = new Set<string>()
  #objects = new Map<Oid, PackableObject>()
  readonly #packs = new Set<StagedPack>()
  readonly #notes: DecisionNote[] = []
  readonly #required: (() => boolean)[] = []
  readonly #claims: NameClaim[] = []
  readonly #needs: string[] = []

  constructor(base: BaseRefs | PendingChanges, store: ObjectDatabase, derived: (name: string) => CacheFile) {
    this.#base = base
    this.#store = store
    this.cacheFile = derived
  }

  ref(name: string): Oid | undefined {
    if (this.#moves.has(name)) return this.#moves.get(name)
    return this.#base instanceof PendingChanges ? this.#base.ref(name) : this.#base.get(name)
  }

  refs(prefix: string): ReadonlyMap<string, Oid> {
    const below = this.#base instanceof PendingChanges ? this.#base.refs(prefix) : this.#base.all
    const refs = new Map<string, Oid>()
    for (const [name, target] of [...below, ...this.#moves]) {
      if (!name.startsWith(prefix)) continue
      if (target === undefined) refs.delete(name)
      else refs.set(name, target)
    }
    return refs
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#drafted(oid) ?? this.#store.read(oid)
  }

  async readMany(
    oids: readonly Oid[],
    run?: SequentialPackReader,
    enough?: number,
  ): Promise<(GitObject | undefined)[]> {
    const drafted = oids.map((oid) => this.#drafted(oid))
    const others = oids.filter((_, index) => !drafted[index])
    const stored = (await this.#store.readMany(others, run, enough)).values()
    const objects: (GitObject | undefined)[] = []
    for (const own of drafted) {
      const next = own ? { value: own } : stored.next()
      if (next.done) break
      objects.push(next.value)
    }
    return objects
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { oid, kind, bytes })
    return oid
  }

  adopt(pack: StagedPack): void {
    this.#packs.add(pack)
  }

  move(ref: string, target: Oid): void {
    this.#moves.set(ref, target)
    this.#following.delete(ref)
  }

  setDerivedRef(ref: string, target: string): void {
    this.#followTo(ref, target)
  }

  removeDerivedRef(ref: string): void {
    this.#followTo(ref, undefined)
  }

  note(note: DecisionNote): void {
    this.#notes.push(note)
  }

  require(holds: () => boolean, repository?: string): void {
    this.#required.push(holds)
    if (repository !== undefined) this.#needs.push(repository)
  }

  claim(claim: NameClaim): void {
    this.#claims.push(claim)
  }

  /** Whether all that is required holds now. */
  isAllowed(): boolean {
    return this.#required.every((holds) => holds())
  }

  notes(): readonly DecisionNote[] {
    return this.#notes
  }

  claims(): readonly NameClaim[] {
    return this.#claims
  }

  needs(): readonly string[] {
    return this.#needs
  }

  /** For a job that is worked out on top of this. */
  fork(): PendingChanges {
    return new PendingChanges(this, this.#store, this.cacheFile)
  }

  /** Takes over what a finished job did. */
  merge(job: PendingChanges): void {
    if (this.#objects.size === 0) this.#objects = job.#objects
    else for (const [oid, object] of job.#objects) this.#objects.set(oid, object)
    for (const pack of job.#packs) this.#packs.add(pack)
    for (const note of job.#notes) this.#notes.push(note)
    for (const required of job.#required) this.#required.push(required)
    for (const claim of job.#claims) this.#claims.push(claim)
    for (const need of job.#needs) this.#needs.push(need)
    for (const [ref, target] of job.#moves) {
      if (target === undefined || job.#following.has(ref)) this.#followTo(ref, target)
      else this.move(ref, target)
    }
  }

  objects(): readonly PackableObject[] {
    return [...this.#objects.values()]
  }

  packs(): readonly StagedPack[] {
    return [...this.#packs]
  }

  /** Every ref that was moved, and whence; none if all that was asked for is to delete what is not there. */
  moves(): RefMove[] {
    const base = this.#base
    const moves = [...this.#moves].map(([ref, target]) => ({
      ref,
      expected: base instanceof PendingChanges ? base.ref(ref) : base.get(ref),
      target,
      follows: this.#following.has(ref),
    }))
    return moves.some(({ expected, target }) => expected !== undefined || target !== undefined) ? moves : []
  }

  /** What this draft, or one below it, adds. */
  #drafted(oid: Oid): GitObject | undefined {
    return (
      this.#objects.get(oid) ?? (this.#base instanceof PendingChanges ? this.#base.#drafted(oid) : undefined)
    )
  }

  #followTo(ref: string, target: string | undefined): void {
    if (!this.#moves.has(ref)) this.#following.add(ref)
    this.#moves.set(ref, target)
  }
}

/** Changes that nobody will store, and which refs they were worked out on. */
export class TrialChanges extends PendingChanges implements Trial {
  readonly #seen = new Map<string, Oid | undefined>()

  override ref(name: string): Oid | undefined {
    const target = super.ref(name)
    if (!this.#seen.has(name)) this.#seen.set(name, target)
    return target
  }

  isStillSo(transaction: Transaction): boolean {
    for (const [name, target] of this.#seen) if (transaction.ref(name) !== target) return false
    return true
  }
}
