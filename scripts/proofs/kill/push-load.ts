import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { KEY } from '../../../test/support/servers/child-server.ts'
import type { Ledger } from './ledger.ts'
import { randomName } from './random-name.ts'

const run = promisify(execFile)

/** Somebody who pushes to branches of his own in one workflow, with the stock git program. What was taken goes into the ledger. */
export class PushLoad {
  readonly #url: string
  readonly #slug: string
  readonly #ledger: Ledger
  readonly #folder = mkdtempSync(join(tmpdir(), 'branchpoint-pusher-'))
  #branch = ''

  constructor(url: string, slug: string, ledger: Ledger) {
    this.#url = url
    this.#slug = slug
    this.#ledger = ledger
  }

  async begin(): Promise<void> {
    const remote = `${this.#url.replace('//', `//any:${KEY}@`)}/git/workflows/${this.#slug}.git`
    await this.#git('clone', '-q', remote, '.')
  }

  /** A commit, on a new branch now and then; pushed. */
  async step(): Promise<void> {
    if (this.#branch === '' || Math.random() < 0.3) {
      this.#branch = `push.${randomName()}`
      await this.#git('switch', '-q', '-c', this.#branch)
    }
    const data = { parameters: { value: randomName() } }
    writeFileSync(join(this.#folder, 'data.json'), `${JSON.stringify(data, null, 2)}\n`)
    await this.#git('commit', '-q', '-a', '-m', 'Push')
    const { stdout: count } = await this.#git('rev-list', '--count', '--first-parent', 'HEAD')
    // Without a terminal git asks for quiet, and is told of no revision.
    const { stderr } = await this.#git('push', '--progress', 'origin', this.#branch)
    const id = /is revision ([0-9a-f-]{36})/.exec(stderr)?.[1]
    if (id === undefined) throw new Error(`the push did not say which revision it is: ${stderr}`)
    this.#ledger.revisions.set(id, { version: Number(count), data, slug: undefined })
  }

  end(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  #git(...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const env = {
      PATH: process.env['PATH'],
      HOME: this.#folder,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_TERMINAL_PROMPT: '0',
      GIT_AUTHOR_NAME: 'Pusher',
      GIT_AUTHOR_EMAIL: 'pusher@example.com',
      GIT_COMMITTER_NAME: 'Pusher',
      GIT_COMMITTER_EMAIL: 'pusher@example.com',
    }
    return run('git', args, { cwd: this.#folder, env })
  }
}
