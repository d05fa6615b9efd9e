import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createApiKey } from '../../../src/access/keys/api-keys.ts'
import type { Scope } from '../../../src/access/keys/scope.ts'
import { nodeFs } from '../../../src/storage/files/node-fs.ts'
import { runBesides } from './small-process.ts'
import { ADMIN_KEY, type RunningService } from '../servers/service.ts'

/** What a git command came to: its exit code, and both outputs as a person would read them. */
export interface GitRun {
  readonly code: number
  readonly output: string
  readonly terminal: string
}

/** A working tree of somebody who uses the stock git program. */
export interface Clone {
  readonly folder: string
  /** Runs git there; rejects unless it ends well. Answers its output without the last line break. */
  git(...args: readonly string[]): Promise<string>
  /** Runs git there, however it ends. */
  try(...args: readonly string[]): Promise<GitRun>
  write(path: string, content: string | Buffer): void
  /** Commits everything that is there. */
  commit(message: string): Promise<string>
}

/** Clones an artifact of the service over HTTP into a new folder, which is removed after the tests of this `describe`. */
export async function cloneOf(
  service: RunningService,
  slug: string,
  { family = 'workflows', key = ADMIN_KEY, args = [] as readonly string[] } = {},
): Promise<Clone> {
  const folder = newFolder()
  const clone = cloneIn(folder)
  await clone.git('clone', '-q', ...args, remoteOf(service, slug, family, key), '.')
  return clone
}

/** An address with a key in it, as git takes it. */
export function remoteOf(
  service: RunningService,
  slug: string,
  family = 'workflows',
  key = ADMIN_KEY,
): string {
  return `${service.url.replace('//', `//any:${key}@`)}/git/${family}/${slug}.git`
}

/** A folder to run git in. */
export function cloneIn(folder: string): Clone {
  const attempt: Clone['try'] = (...args) => runGit(folder, args)
  const git: Clone['git'] = async (...args) => {
    const { code, output, terminal } = await attempt(...args)
    if (code !== 0) throw new Error(`git ${args.join(' ')} ended with ${code}: ${terminal}`)
    return output.replace(/\n$/, '')
  }
  return {
    folder,
    git,
    try: attempt,
    write: (path, content) => {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    },
    commit: async (message) => {
      await git('add', '-A')
      await git('commit', '-q', '--allow-empty', '-m', message)
      return git('rev-parse', 'HEAD')
    },
  }
}

/** A new folder that is removed after the tests of the current `describe`. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'branchpoint-clone-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The server is in this process, so that git must not be waited for as `git-program.ts` does. */
export async function runGit(folder: string, args: readonly string[]): Promise<GitRun> {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    GIT_AUTHOR_NAME: 'Ann',
    GIT_AUTHOR_EMAIL: 'ann@example.com',
    GIT_COMMITTER_NAME: 'Ann',
    GIT_COMMITTER_EMAIL: 'ann@example.com',
  }
  const { status, output, complaint } = await runBesides({ command: 'git', args, cwd: folder, env })
  return { code: status ?? -1, output: output.toString(), terminal: complaint.toString() }
}

/** A new key of project `default`. */
export async function keyWith(service: RunningService, ...scopes: readonly Scope[]): Promise<string> {
  const name = `git-${scopes.join('-')}-${Math.random().toString(36).slice(2)}`
  return (await createApiKey(nodeFs, service.storeDir, { project: 'default', name, scopes })).token
}

/** Makes a workflow with one revision; answers its variant's id. */
export async function workflow(service: RunningService, slug: string): Promise<string> {
  const { body } = await service.post('/simple/workflows/', {
    workflow: { slug, data: { parameters: { number: 1 } } },
  })
  return body.workflow.variant_id
}

/** The latest revision of a variant, as REST answers it. */
export async function latest(service: RunningService, slug: string, surface = 'workflow') {
  const reply = await service.post(`/${surface}s/revisions/retrieve`, {
    [`${surface}_variant_ref`]: { slug },
  })
  return reply.body[`${surface}_revision`]
}
