import { execFile } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Names } from './names.ts'
import { type Printed, printedLines, printedObject, printedText } from './print-json.ts'

interface Commit {
  readonly repository: string
  readonly oid: string
  readonly parents: readonly string[]
  readonly author: string
  readonly committer: string
  readonly message: string
  readonly files: readonly { readonly mode: string; readonly oid: string; readonly path: string }[]
}

/** Which refs moved, and the commits that are new. */
export interface Changes {
  readonly refs: readonly {
    readonly repository: string
    readonly ref: string
    readonly oid: string | undefined
  }[]
  readonly commits: readonly Commit[]
  readonly blobs: ReadonlyMap<string, string>
}

/**
 * Reads the repositories of a project with the git program after each step: what each ref points at, and of each new commit its header, message
 * and tree.
 */
export class StoreReader {
  readonly #folder: string
  readonly #stamps = new Map<string, string>()
  readonly #refs = new Map<string, ReadonlyMap<string, string>>()
  readonly #known = new Set<string>()
  readonly #blobs = new Map<string, string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** What has changed since it was last asked. */
  async changes(): Promise<Changes> {
    const parts: Changes[] = []
    for (const repository of repositoriesOf(this.#folder)) {
      const stamp = stampOf(join(this.#folder, repository))
      if (this.#stamps.get(repository) === stamp) continue
      this.#stamps.set(repository, stamp)
      parts.push(await this.#changesOf(repository))
    }
    return {
      refs: parts.flatMap(({ refs }) => refs),
      commits: parts.flatMap(({ commits }) => commits),
      blobs: this.#blobs,
    }
  }

  async #changesOf(repository: string): Promise<Changes> {
    const folder = join(this.#folder, repository)
    const before = this.#refs.get(repository) ?? new Map<string, string>()
    const listed = await run(folder, ['for-each-ref', '--format=%(refname) %(objectname)'])
    const head = await run(folder, ['symbolic-ref', '-q', 'HEAD']).catch(() => '')
    const after = new Map(lines(listed).map((line) => line.split(' ') as [string, string]))
    if (head !== '') after.set('HEAD', head.trim())
    this.#refs.set(repository, after)
    const refs = [...new Set([...before.keys(), ...after.keys()])]
      .filter((ref) => before.get(ref) !== after.get(ref))
      .sort()
      .map((ref) => ({ repository, ref, oid: after.get(ref) }))
    const all = lines(await run(folder, ['rev-list', '--topo-order', '--reverse', '--all']))
    const fresh = all.filter((oid) => !this.#known.has(`${repository} ${oid}`))
    const commits = await Promise.all(fresh.map((oid) => readCommit(folder, repository, oid)))
    for (const oid of fresh) this.#known.add(`${repository} ${oid}`)
    await this.#readBlobs(folder, commits)
    return { refs, commits, blobs: this.#blobs }
  }

  async #readBlobs(folder: string, commits: readonly Commit[]): Promise<void> {
    const wanted = [...new Set(commits.flatMap(({ files }) => files.map(({ oid }) => oid)))]
    const missing = wanted.filter((oid) => !this.#blobs.has(oid))
    if (missing.length === 0) return
    const bytes = await runBytes(folder, ['cat-file', '--batch'], `${missing.join('\n')}\n`)
    for (let at = 0; at < bytes.length;) {
      const end = bytes.indexOf(10, at)
      const [oid = '', , size = '0'] = bytes.subarray(at, end).toString().split(' ')
      this.#blobs.set(oid, bytes.subarray(end + 1, end + 1 + Number(size)).toString())
      at = end + 1 + Number(size) + 1
    }
  }
}

/** Tells the names of what is new, before anything is called by them. */
export function announce({ commits }: Changes, names: Names): void {
  for (const { oid } of commits) names.isCommit(oid)
}

/** A note's path is the id of the commit that it is of, in two parts. */
function placeOf(path: string): string {
  return path.replace(/^([0-9a-f]{2})\/([0-9a-f]{38})$/, '$1$2')
}

/** The changes of a step as they are recorded; undefined where nothing changed. */
export function printedChanges(
  { refs, commits, blobs }: Changes,
  names: Names,
): Record<string, Printed | undefined> {
  const told: Record<string, Printed> = {}
  const made = commits.map((commit) => {
    const { repository, oid, parents, author, committer, message, files } = commit
    const named = names.text(oid, 'commit')
    const placed = files.map((file) => ({ ...file, place: names.text(placeOf(file.path), 'id') }))
    // notes are in order of the ids of commits, which differ from run to run
    if (files.some(({ path }) => placeOf(path) !== path)) placed.sort((a, b) => (a.place < b.place ? -1 : 1))
    const tree = placed.map(({ mode, oid: blob, place }) => {
      const content = blobs.get(blob) ?? ''
      const plain = names.text(content, 'id')
      const name = plain === content ? blob : names.object(blob, 'blob')
      if (plain !== content && !told[name]) told[name] = printedLines(plain)
      return [place, printedText(mode === '100644' ? name : `${mode} ${name}`)] as const
    })
    const whole = printedObject({
      in: printedText(repository),
      parents:
        parents.length > 0
          ? printedText(parents.map((parent) => names.text(parent, 'commit')).join(' '))
          : undefined,
      author: printedText(names.text(author, 'id')),
      committer: committer === author ? undefined : printedText(names.text(committer, 'id')),
      message: printedLines(namedMessage(message, names)),
      tree: printedObject(Object.fromEntries(tree)),
    })
    return [named, whole] as const
  })
  const moved = refs.map(
    ({ repository, ref, oid }) =>
      [
        `${repository} ${names.text(ref, 'id')}`,
        oid === undefined ? { flat: 'null' } : printedText(named(oid)),
      ] as const,
  )
  return {
    refs: moved.length > 0 ? printedObject(Object.fromEntries(moved)) : undefined,
    commits: made.length > 0 ? printedObject(Object.fromEntries(made)) : undefined,
    blobs: Object.keys(told).length > 0 ? printedObject(told) : undefined,
  }

  function named(oid: string): string {
    const text = names.text(oid, 'commit')
    return text === oid && /^[0-9a-f]{40}$/.test(oid) && !blobs.has(oid) ? names.object(oid, 'object') : text
  }
}

/** A trailer has a hash of the message that the server wrote, which may name what differs from run to run. */
function namedMessage(message: string, names: Names): string {
  const named = names.text(message, 'id')
  return named === message
    ? named
    : named.replace(/(?<=^Generated-Subject: )[0-9a-f]+$/m, '<hash of the message>')
}

async function readCommit(folder: string, repository: string, oid: string): Promise<Commit> {
  const [header, tree] = await Promise.all([
    run(folder, ['show', '-s', '--no-notes', '--format=%P%n%an <%ae> %aI%n%cn <%ce> %cI%n%B', oid]),
    run(folder, ['-c', 'core.quotePath=false', 'ls-tree', '-r', '-z', oid]),
  ])
  const [parents = '', author = '', committer = '', ...message] = header.split('\n')
  return {
    repository,
    oid,
    parents: parents.split(' ').filter(Boolean),
    author,
    committer,
    message: message.join('\n').replace(/\n+$/, ''),
    files: tree
      .split('\0')
      .filter(Boolean)
      .map((line) => {
        const [start = '', path = ''] = line.split('\t')
        const [mode = '', , blob = ''] = start.split(' ')
        return { mode, oid: blob, path }
      }),
  }
}

/** `workflows/bot.git`, in order. */
function repositoriesOf(folder: string): string[] {
  return namesIn(folder)
    .filter((family) => /^[a-z]+$/.test(family))
    .flatMap((family) => namesIn(join(folder, family)).map((name) => `${family}/${name}`))
    .filter((path) => path.endsWith('.git'))
    .sort()
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Changes whenever a ref does. */
function stampOf(repository: string): string {
  const stamps: string[] = []
  const look = (path: string): void => {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stat) return
    stamps.push(`${path} ${stat.ino} ${stat.mtimeNs}`)
    if (stat.isDirectory()) for (const name of namesIn(path)) look(join(path, name))
  }
  for (const name of ['HEAD', 'packed-refs', 'refs', 'reftable']) look(join(repository, name))
  return stamps.join('\n')
}

function lines(text: string): string[] {
  return text.split('\n').filter(Boolean)
}

async function run(folder: string, args: readonly string[]): Promise<string> {
  return (await runBytes(folder, args)).toString()
}

function runBytes(folder: string, args: readonly string[], input?: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const env = {
      PATH: process.env['PATH'],
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      TZ: 'UTC',
    }
    const options = { cwd: folder, env, encoding: 'buffer', maxBuffer: 1 << 28 } as const
    const child = execFile('git', args, options, (error, output) => (error ? reject(error) : resolve(output)))
    child.stdin?.end(input)
  })
}
