import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { KEY } from '../../../test/support/servers/child-server.ts'
import type { Recorder } from './recorder.ts'
import { Unavailable } from './rest.ts'

const run = promisify(execFile)

export interface PusherOptions {
  readonly url: string
  /** A workflow whose default variant has its slug; the register's name, too. */
  readonly slug: string
  readonly recorder: Recorder
  /** An empty folder's path, for the clone. */
  readonly folder: string
  readonly name: string
}

/**
 * Somebody with a clone who pushes to the branch that everybody else commits to over REST. A push that comes too late is a refused
 * compare-and-set: what it was made for is the latest no more.
 */
export class Pusher {
  readonly #options: PusherOptions
  #count = 0

  constructor(options: PusherOptions) {
    this.#options = options
  }

  async begin(): Promise<void> {
    const { url, slug, folder } = this.#options
    mkdirSync(folder, { recursive: true })
    const remote = `${url.replace('//', `//any:${KEY}@`)}/git/workflows/${slug}.git`
    await this.#git('clone', '-q', '--single-branch', remote, '.')
  }

  /** Fetches the latest, makes a change of it, and pushes. Throws Unavailable where the server cannot be used now. */
  async step(): Promise<void> {
    const { slug, folder, name, recorder } = this.#options
    const token = `${name}.${++this.#count}`
    await this.#git('fetch', '-q', 'origin', slug)
    await this.#git('reset', '-q', '--hard', 'FETCH_HEAD')
    const base = Number(await this.#git('rev-list', '--count', '--first-parent', 'HEAD'))
    writeFileSync(join(folder, `${name}.txt`), token)
    await this.#git('add', '.')
    await this.#git('commit', '-q', '-m', token)
    await recorder.record(
      name,
      async () => {
        const kind = (await this.#isPushed()) ? ('write' as const) : ('refused' as const)
        return { answer: undefined, outcomes: { [slug]: { kind, token, base } } }
      },
      { token, registers: [slug] },
    )
  }

  async #isPushed(): Promise<boolean> {
    try {
      await this.#git('push', '-q', 'origin', `HEAD:${this.#options.slug}`)
      return true
    } catch (error) {
      if (/fetch first|non-fast-forward/.test(String(error))) return false
      throw error
    }
  }

  async #git(...args: readonly string[]): Promise<string> {
    const { folder, name } = this.#options
    const env = {
      PATH: process.env['PATH'],
      HOME: folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: 'pusher@example.com',
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: 'pusher@example.com',
    }
    try {
      return (await run('git', args, { cwd: folder, env })).stdout.trim()
    } catch (error) {
      // As git tells of an answer 503, and of one in the report of a push.
      throw /returned error: 503|The database/.test(String(error)) ? new Unavailable(String(error)) : error
    }
  }
}
