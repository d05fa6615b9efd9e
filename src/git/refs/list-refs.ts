import { Refusal } from '../../errors.ts'
import type { Fs } from '../../storage/files.ts'
import type { Oid } from '../objects/object.ts'

/** All refs under `refs/`, and HEAD. */
export interface AllRefs {
  readonly refs: ReadonlyMap<string, Oid>
  /** HEAD's content: `ref: refs/heads/main`, or an object id. */
  readonly head: string
}

/**
 * Reads all refs of a bare repository, loose and packed, including those the registry ignores (notes, deeper names), as a copy needs them.
 * Symbolic refs are resolved. Refuses a damaged ref by name.
 */
export function readAllRefs(fs: Fs, gitdir: string): AllRefs {
  const loose = new Map<string, string>()
  // Loose refs are read first: `git pack-refs` writes the packed file before it removes loose ones, so none is missed.
  for (const name of looseRefs(fs, gitdir)) {
    const text = fs.readFile(`${gitdir}/${name}`)?.toString('utf8').trim()
    if (text !== undefined) loose.set(name, text)
  }
  const refs = readPacked(fs, `${gitdir}/packed-refs`)
  for (const [name, text] of loose) {
    if (OID.test(text)) refs.set(name, text)
    else if (!text.startsWith('ref: ')) throw damaged(`${gitdir}/${name}`)
  }
  for (const [name, text] of loose) {
    const target = text.startsWith('ref: ') ? refs.get(text.slice('ref: '.length)) : undefined
    if (target !== undefined) refs.set(name, target)
  }
  return { refs, head: fs.readFile(`${gitdir}/HEAD`)?.toString('utf8').trim() ?? '' }
}

/** The names of loose refs. */
export function looseRefs(fs: Fs, gitdir: string, below = 'refs'): string[] {
  return (fs.readDir(`${gitdir}/${below}`) ?? []).flatMap((name) => {
    const path = `${below}/${name}`
    if (name.endsWith('.lock')) return []
    return fs.stat(`${gitdir}/${path}`)?.kind === 'folder' ? looseRefs(fs, gitdir, path) : [path]
  })
}

/** Whether two repositories have the same refs and HEAD. */
export function isSameRefs(a: AllRefs, b: AllRefs): boolean {
  if (a.head !== b.head || a.refs.size !== b.refs.size) return false
  return [...a.refs].every(([name, oid]) => b.refs.get(name) === oid)
}

const OID = /^[0-9a-f]{40}$/

function readPacked(fs: Fs, path: string): Map<string, Oid> {
  const refs = new Map<string, Oid>()
  for (const line of fs.readFile(path)?.toString('utf8').split('\n') ?? []) {
    if (line === '' || line.startsWith('#') || line.startsWith('^')) continue
    const [, oid, name] = /^([0-9a-f]{40}) (\S+)$/.exec(line) ?? []
    if (!oid || !name) throw damaged(path)
    refs.set(name, oid)
  }
  return refs
}

function damaged(path: string): Refusal {
  return new Refusal(
    'damaged_repository',
    `${path} does not hold an object id where git keeps one. Restore it from a clone or remove the damaged line.`,
  )
}
