import { writeFileSync } from 'node:fs'
import { git } from '../../support/git/git-program.ts'
import type { GitObject, ObjectKind, Oid } from '../../../src/git/objects/object.ts'
import { encodePack } from '../../../src/git/packs/pack-writer.ts'
import { NewObjects } from '../../../src/registry/artifacts/create-artifact.ts'
import type { ObjectReader, ObjectSink } from '../../../src/registry/payload/tree-files.ts'

/** Objects in memory that tell what was read and written since the last `forget`. */
export class RecordedObjects implements ObjectReader, ObjectSink {
  reads: Oid[] = []
  writes: Oid[] = []
  readonly lost = new Set<Oid>()
  readonly #objects = new NewObjects('')

  read(oid: Oid): Promise<GitObject | undefined> {
    this.reads.push(oid)
    return this.lost.has(oid) ? Promise.resolve(undefined) : this.#objects.read(oid)
  }

  write(kind: ObjectKind, bytes: Buffer): Oid {
    const oid = this.#objects.write(kind, bytes)
    this.writes.push(oid)
    return oid
  }

  forget(): void {
    this.reads = []
    this.writes = []
  }

  /** Puts them all into a new bare repository in `folder`. */
  store(folder: string): void {
    git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
    const { name, pack, index } = encodePack(this.#objects.all())
    writeFileSync(`${folder}/objects/pack/${name}.pack`, pack)
    writeFileSync(`${folder}/objects/pack/${name}.idx`, index)
  }
}
