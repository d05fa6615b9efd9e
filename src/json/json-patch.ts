import { ArrayAligner } from './array-aligner.ts'
import { equalJson } from './equal-json.ts'
import { type Json, type JsonObject, entriesOf, getKey, hasKey, isJsonArray, isJsonObject } from './json.ts'

/** One operation of an RFC 6902 patch; `path` is an RFC 6901 pointer. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string }

/**
 * The RFC 6902 patch (add, remove and replace) that turns `base` into `head` (ruling 3.16), as exact as the values are.
 * Undefined stands for no document at all. Key order is no difference, as in RFC 6902 itself; nor are two spellings of
 * one number. Arrays whose difference is too large to align are replaced whole, so that the work stays bounded whatever
 * is compared. (Measured: rfc6902's createPatch doubles its time with each array inside an array, half a minute at 22
 * levels, and needs cubic memory for long ones, which anybody who may commit could make it meet.)
 */
export function jsonPatch(base: Json | undefined, head: Json | undefined): JsonPatchOperation[] {
  if (head === undefined) return base === undefined ? [] : [{ op: 'remove', path: '' }]
  if (base === undefined) return [{ op: 'add', path: '', value: head }]
  const comparison = new Comparison()
  comparison.values(base, head, '')
  return comparison.operations
}

class Comparison {
  readonly operations: JsonPatchOperation[] = []
  readonly aligner = new ArrayAligner()

  values(base: Json, head: Json, path: string): void {
    if (isJsonObject(base) && isJsonObject(head)) this.objects(base, head, path)
    else if (isJsonArray(base) && isJsonArray(head)) this.arrays(base, head, path)
    else if (!equalJson(base, head)) this.operations.push({ op: 'replace', path, value: head })
  }

  objects(base: JsonObject, head: JsonObject, path: string): void {
    for (const [key] of entriesOf(base)) {
      if (!hasKey(head, key)) this.operations.push({ op: 'remove', path: `${path}/${pointerToken(key)}` })
    }
    for (const [key, value] of entriesOf(head)) {
      const member = `${path}/${pointerToken(key)}`
      const old = getKey(base, key)
      if (old === undefined) this.operations.push({ op: 'add', path: member, value })
      else this.values(old, value, member)
    }
  }

  /** Items removed and added at one place are compared in pairs, so that an edited message is not replaced whole. */
  arrays(base: readonly Json[], head: readonly Json[], path: string): void {
    const hunks = this.aligner.align(base, head)
    if (hunks === undefined) {
      if (!equalJson(base, head)) this.operations.push({ op: 'replace', path, value: head })
      return
    }
    for (const { removed, to, added } of hunks) {
      // what comes before this hunk is as in `head` already, so a place there is a place in the patched array
      removed.forEach((item, index) => {
        const other = added[index]
        if (other !== undefined) this.values(item, other, `${path}/${to + index}`)
        else this.operations.push({ op: 'remove', path: `${path}/${to + added.length}` })
      })
      added.slice(removed.length).forEach((value, index) => {
        this.operations.push({ op: 'add', path: `${path}/${to + removed.length + index}`, value })
      })
    }
  }
}

/** A key as RFC 6901 writes it in a pointer. */
function pointerToken(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1')
}
