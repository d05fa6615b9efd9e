import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/fs.ts'
import type { Oid } from '../objects/object.ts'
import { isRefName } from '../refs/ref-store.ts'

/** No repository has so many refs that their lines are longer. */
const LONGEST_HEADER = 16 * 1024 * 1024
const PIECE = 64 * 1024

/**
 * The refs that a bundle brings (gitformat-bundle(5), version 2), without HEAD. Refuses with `invalid_file` what is no bundle, one that
 * builds on commits it does not bring, and names that no ref may have.
 */
export function bundleRefs(fs: Fs, path: string): ReadonlyMap<string, Oid> {
  const [signature, ...lines] = header(fs, path).split('\n')
  if (signature !== '# v2 git bundle') throw invalidBundle('it does not begin with "# v2 git bundle"')
  const refs = new Map<string, Oid>()
  for (const line of lines) {
    if (line.startsWith('-')) throw invalidBundle('it builds on commits that it does not bring')
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(line) ?? []
    if (!oid || !name) throw invalidBundle(`${JSON.stringify(line.slice(0, 100))} names no ref`)
    if (name === 'HEAD') continue
    if (!isRefName(name))
      throw invalidBundle(`${JSON.stringify(name.slice(0, 100))} cannot be the name of a ref`)
    refs.set(name, oid)
  }
  return refs
}

/** Everything before the empty line, after which the pack comes. */
function header(fs: Fs, path: string): string {
  const handle = fs.open(path)
  try {
    let bytes = Buffer.alloc(0)
    while (handle && bytes.length < Math.min(handle.size, LONGEST_HEADER)) {
      const piece = Buffer.alloc(PIECE)
      bytes = Buffer.concat([bytes, piece.subarray(0, handle.read(piece, bytes.length))])
      const end = bytes.indexOf('\n\n')
      if (end >= 0) return bytes.toString('utf8', 0, end)
    }
    throw invalidBundle('its list of refs does not end')
  } finally {
    handle?.close()
  }
}

function invalidBundle(why: string): Refusal {
  return new Refusal(
    'invalid_file',
    `The body is not a whole git bundle: ${why}. Make it with git bundle create FILE --all.`,
  )
}
