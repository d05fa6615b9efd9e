import { type GitObject, type ObjectKind, type Oid, hashObject } from '../../git/objects.ts'
import type { TimeSlice } from '../../base/scheduling.ts'
import type { PayloadTarget } from '../payload/family.ts'
import type { ObjectSink } from '../payload/tree-files.ts'

/** New objects in memory, on top of stored ones: for merged merge bases, and for a merge until it is stored. */
export class ScratchObjects implements PayloadTarget {
  readonly artifactId: string
  readonly gitdir: string | undefined
  readonly #below: PayloadTarget
  readonly #objects = new Map<Oid, GitObject>()

  constructor(below: PayloadTarget) {
    this.artifactId = below.artifactId
    this.gitdir = below.gitdir
    this.#below = below
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = hashObject(kind, bytes)
    this.#objects.set(oid, { kind, bytes })
    return oid
  }

  async read(oid: Oid): Promise<GitObject | undefined> {
    return this.#objects.get(oid) ?? this.#below.read(oid)
  }

  readMany: PayloadTarget['readMany'] = async (oids, ...more) => {
    if (!oids.some((oid) => this.#objects.has(oid))) return this.#below.readMany(oids, ...more)
    return Promise.all(oids.map((oid) => this.read(oid)))
  }

  startingWith: PayloadTarget['startingWith'] = (prefix) => this.#below.startingWith(prefix)

  tips: PayloadTarget['tips'] = () => this.#below.tips()

  adopt(): void {
    throw new Error('what a merge writes is no pack')
  }

  /** Writes all of them to their final place. */
  async writeTo(target: ObjectSink, slice: TimeSlice): Promise<void> {
    await slice.each(this.#objects.values(), ({ kind, bytes }) => void target.write(kind, bytes))
  }
}
