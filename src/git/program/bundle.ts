import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'
import { isRefName } from '../refs/ref-store.ts'
import { gitEnvironment } from './git-environment.ts'
import { type GitChild, startGit } from './git-process.ts'

const MAX_HEADER_BYTES = 16 * 1024 * 1024
const BYTES_PER_PIECE = 64 * 1024

/**
 * The refs of a bundle (gitformat-bundle(5), version 2), without HEAD. Refuses with `invalid_file` what is not a bundle, a bundle with
 * prerequisites, and invalid ref names.
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

/** Everything before the empty line that precedes the pack. */
function header(fs: Fs, path: string): string {
  const handle = fs.open(path)
  try {
    let bytes = Buffer.alloc(0)
    while (handle && bytes.length < Math.min(handle.size, MAX_HEADER_BYTES)) {
      const piece = Buffer.alloc(BYTES_PER_PIECE)
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

/** Writes a bundle (version 2) of all refs of a repository, and HEAD, to the program's output. */
export function createBundle(gitdir: string, signal: AbortSignal): GitChild {
  return startGit({
    args: [`--git-dir=${gitdir}`, 'bundle', 'create', '--quiet', '--version=2', '-', '--all'],
    env: gitEnvironment(),
    signal,
  })
}
