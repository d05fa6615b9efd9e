import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'

/** The files of a stored revision as git itself takes them in and gives them out. */
export interface RowBlobs {
  /** A stream for `git fast-import`: one commit with the files at their paths. */
  readonly importStream: string
  /** The ids of the rows' blobs in their order, a line each. */
  readonly oids: string
}

/** Writes both beside each other, from what HEAD of a repository holds; `file` is what their names begin with. */
export function takeRowBlobs(repository: string, file: string): RowBlobs {
  const entries = git(repository, ['ls-tree', '-r', 'HEAD'])
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [about = '', path = ''] = line.split('\t')
      return { oid: about.slice(-40), path }
    })
  const oids = entries.map(({ oid }) => `${oid}\n`)
  const blobs = git(repository, ['cat-file', '--batch', '--buffer'], oids.join(''))
  const stream = ['commit refs/heads/main\ncommitter bench <bench@example.org> 1700000000 +0000\ndata 0\n']
  let at = 0
  for (const { path } of entries) {
    const begin = blobs.indexOf('\n', at) + 1
    const size = Number(blobs.toString('latin1', at, begin).split(' ')[2])
    stream.push(
      `M 100644 inline ${path}\ndata ${size}\n`,
      blobs.toString('latin1', begin, begin + size),
      '\n',
    )
    at = begin + size + 1
  }
  const names = { importStream: `${file}.import`, oids: `${file}.oids` }
  writeFileSync(names.importStream, stream.join(''), 'latin1')
  writeFileSync(names.oids, oids.filter((_, index) => entries[index]?.path.startsWith('testcases/')).join(''))
  return names
}

/** Milliseconds that `git fast-import` takes for a stream, into a fresh bare repository in `folder`. */
export async function timeFastImport(importStream: string, folder: string): Promise<number> {
  git('.', ['init', '--quiet', '--bare', '--initial-branch=main', folder])
  const took = await timeGit(folder, ['fast-import', '--quiet'], importStream)
  rmSync(folder, { recursive: true })
  return took
}

/** Milliseconds that `git cat-file --batch` takes to print the blobs to a reader who does nothing with them. */
export function timeCatFile(repository: string, oids: string): Promise<number> {
  return timeGit(repository, ['cat-file', '--batch'], oids)
}

/** Apparent bytes of a repository's folder, as du counts them. */
export function sizeOnDisk(repository: string): number {
  const { stdout, status } = spawnSync('du', ['--summarize', '--bytes', repository])
  if (status !== 0) throw new Error(`du ${repository} ended with ${status}`)
  return Number(/^\d+/.exec(stdout.toString())?.[0])
}

async function timeGit(repository: string, args: readonly string[], input: string): Promise<number> {
  const stdin = openSync(input, 'r')
  const started = performance.now()
  const child = spawn('git', args, { cwd: repository, env: ENV, stdio: [stdin, 'pipe', 'inherit'] })
  child.stdout?.resume()
  const [code] = await once(child, 'exit')
  const took = performance.now() - started
  closeSync(stdin)
  if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}`)
  return took
}

function git(folder: string, args: readonly string[], input?: string): Buffer {
  const result = spawnSync('git', args, { cwd: folder, env: ENV, input, maxBuffer: 1024 ** 3 })
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr.toString()}`)
  return result.stdout
}

/** Nobody's own configuration. */
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
