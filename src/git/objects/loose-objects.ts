import type { Fs } from '../../storage/fs.ts'
import { inflateWhole } from '../packs/inflate.ts'
import { CorruptObject } from './errors.ts'
import type { GitObject, Oid } from './object.ts'
import { hashObject, objectKinds } from './object.ts'

/** The objects that have a file of their own, `objects/<2 hex>/<38 hex>`. */
export class LooseObjects {
  readonly #fs: Fs
  readonly #folder: string

  constructor(fs: Fs, gitdir: string) {
    this.#fs = fs
    this.#folder = `${gitdir}/objects`
  }

  /** The file that holds the object if it is loose. */
  path(oid: Oid): string {
    return `${this.#folder}/${oid.slice(0, 2)}/${oid.slice(2)}`
  }

  has(oid: Oid): boolean {
    return this.#fs.stat(this.path(oid))?.kind === 'file'
  }

  /** The object, checked against its id; undefined if it is not loose. Throws `CorruptObject` if its file is damaged. */
  read(oid: Oid): GitObject | undefined {
    const deflated = this.#fs.readFile(this.path(oid))
    if (!deflated) return undefined
    const inflated = inflateWhole(deflated)
    const end = inflated.indexOf(0)
    const header = /^(\w+) (\d+)$/.exec(inflated.toString('latin1', 0, Math.max(0, Math.min(end, 32))))
    const kind = objectKinds.find((name) => name === header?.[1])
    const bytes = inflated.subarray(end + 1)
    if (!kind || Number(header?.[2]) !== bytes.length)
      throw new CorruptObject('it does not start as an object does')
    if (hashObject(kind, bytes) !== oid) throw new CorruptObject('its bytes do not match its id')
    return { kind, bytes }
  }

  /** The loose objects whose ids start with these hex digits (at least two), in no order. */
  startingWith(hexPrefix: string): Oid[] {
    const folder = hexPrefix.slice(0, 2)
    const rest = hexPrefix.slice(2)
    const names = this.#fs.readDir(`${this.#folder}/${folder}`) ?? []
    return names
      .filter((name) => name.startsWith(rest) && /^[0-9a-f]{38}$/.test(name))
      .map((name) => folder + name)
  }
}
