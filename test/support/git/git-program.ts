import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { runInSmallProcess } from './small-process.ts'

/** The real git, with nobody's own configuration; answers its output without the last line break. */
export function git(folder: string, args: readonly string[], input?: string | Buffer): string {
  return gitBytes(folder, args, input).toString().replace(/\n$/, '')
}

/**
 * The same, byte for byte. A server that makes one pack of many takes these away from under a `git fsck`, as `git gc` does; it is
 * asked again then, and what is really missing stays so.
 */
export function gitBytes(folder: string, args: readonly string[], input?: string | Buffer): Buffer {
  for (let left = args[0] === 'fsck' ? 5 : 0; ; left--) {
    try {
      return run(folder, args, input)
    } catch (error) {
      if (left === 0 || !String(error).includes('index not opened')) throw error
    }
  }
}

function run(folder: string, args: readonly string[], input?: string | Buffer): Buffer {
  const { status, output, complaint, error } = runInSmallProcess({
    command: 'git',
    args,
    cwd: resolve(folder),
    input,
    env: {
      ...process.env,
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_TEMPLATE_DIR: '', // its sample hooks are copied with every repository
      GIT_AUTHOR_NAME: 'Ann',
      GIT_AUTHOR_EMAIL: 'ann@example.com',
      GIT_COMMITTER_NAME: 'Ann',
      GIT_COMMITTER_EMAIL: 'ann@example.com',
    },
  })
  if (status === 0) return output
  const why = error?.message ?? `ended with ${status}:\n${complaint.toString()}`
  throw Object.assign(new Error(`git ${args.join(' ')} in ${folder} ${why}`), { status, code: error?.code })
}

/** Every object of the repository: id and kind as git lists them. */
export function allObjects(folder: string): { readonly oid: string; readonly kind: string }[] {
  return git(folder, ['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'])
    .split('\n')
    .map((line) => {
      const [oid = '', kind = ''] = line.split(' ')
      return { oid, kind }
    })
}

/** A new folder that is removed after the tests of the current `describe`. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-git-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A new bare repository with `revisions` commits on main, each changing `data.json`. Answers its folder. */
export function repositoryWithHistory(revisions: number): string {
  const folder = temporaryFolder()
  git(folder, ['init', '--quiet', '--bare', '--initial-branch=main', '.'])
  let stream = ''
  for (let number = 1; number <= revisions; number++) {
    const lines = Array.from({ length: 40 }, (_, line) => `  "line${line}": "text of line ${line}",\n`)
    const data = `{\n${lines.join('')}  "revision": ${number}\n}\n`
    stream +=
      `commit refs/heads/main\ncommitter Ann <ann@example.com> ${1_700_000_000 + number} +0000\n` +
      `data <<END\nChange ${number}\n\nVariant: main\nEND\n` +
      `M 100644 inline data.json\ndata ${data.length}\n${data}\n`
  }
  git(folder, ['-c', 'fastimport.unpackLimit=0', 'fast-import', '--quiet'], stream)
  return folder
}
