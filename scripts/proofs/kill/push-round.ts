import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Finding } from './kill-round.ts'

const run = promisify(execFile)

export interface PushRound {
  readonly url: string
  /** An admin key of the service. */
  readonly key: string
  /** A workflow with a revision, whose default variant has its slug. */
  readonly slug: string
  /** Its repository, to look at afterwards. */
  readonly repository: string
  /** An empty folder for the clones. */
  readonly folder: string
  readonly pushers: number
  readonly committers: number
  /** Milliseconds, where that is long enough for `LEAST_CHANGES`. */
  readonly runFor: number
  /** How long a committer waits between two commits at most, in milliseconds: who pushes has to get a word in. */
  readonly idle: number
}

/** What came of it; of the pushes, `shared` were to the branch that everybody writes to. */
export interface PushFinding extends Finding {
  readonly pushed: number
  readonly shared: number
}

/** What was accepted, and on which branch. */
interface Accepted {
  readonly branch: string
  readonly message: string
  /** What REST answered; unknown to who pushed. */
  readonly version?: number
}

/**
 * Pushers with clones of their own and committers over REST write to one artifact: everybody to one branch, and each pusher also
 * to one of his own. Afterwards every accepted change must be in the history, once, and versions must be consecutive.
 */
export async function pushRound(round: PushRound): Promise<PushFinding> {
  const accepted: Accepted[] = []
  const problems: string[] = []
  const until = Date.now() + round.runFor
  const watch = (work: Promise<void>): Promise<void> =>
    work.catch((error) => void problems.push(String(error)))
  await Promise.all([
    ...numbers(round.pushers).map((number) => watch(pushAll(round, number, until, accepted))),
    ...numbers(round.committers).map((number) => watch(commitAll(round, number, until, accepted))),
  ])
  problems.push(...(await check(round, accepted)))
  const pushes = accepted.filter(({ version }) => version === undefined)
  const shared = pushes.filter(({ branch }) => branch === round.slug)
  return { acknowledged: accepted.length, pushed: pushes.length, shared: shared.length, problems }
}

/** So many does everybody try, however long they take. */
const LEAST_CHANGES = 3

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

type Git = (...args: readonly string[]) => Promise<string>

async function pushAll(round: PushRound, number: number, until: number, accepted: Accepted[]): Promise<void> {
  const folder = join(round.folder, `pusher-${number}`)
  mkdirSync(folder)
  const git: Git = (...args) => gitIn(folder, args)
  const remote = `${round.url.replace('//', `//any:${round.key}@`)}/git/workflows/${round.slug}.git`
  await git('clone', '-q', remote, '.')
  await git('branch', '-q', `own-${number}`)
  for (let change = 1; change <= LEAST_CHANGES || Date.now() < until; change++) {
    const branch = change % 2 === 0 ? round.slug : `own-${number}`
    const message = `Push ${number}.${change}`
    await git('switch', '-q', branch)
    writeFileSync(join(folder, `pusher-${number}.txt`), message)
    await git('add', '.')
    await git('commit', '-q', '-m', message)
    if (await isPushedInTime(git, branch, until)) accepted.push({ branch, message })
    // Others were faster again and again: what was not accepted is nobody's loss.
    else await git('reset', '-q', '--hard', 'HEAD~1')
  }
}

/** Tries a few times, each on top of what the others did meanwhile. */
async function isPushedInTime(git: Git, branch: string, until: number): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    if (await isPushed(git, branch)) return true
    if (attempt === ATTEMPTS || Date.now() > until) return false
    await git('pull', '-q', '--rebase', 'origin', branch)
  }
}

const ATTEMPTS = 4

/** Whether it was taken; throws if it was refused for anything else than that somebody was faster. */
async function isPushed(git: Git, branch: string): Promise<boolean> {
  try {
    await git('push', '-q', 'origin', branch)
    return true
  } catch (error) {
    if (/fetch first|non-fast-forward/.test(String(error))) return false
    throw error
  }
}

async function commitAll(
  round: PushRound,
  number: number,
  until: number,
  accepted: Accepted[],
): Promise<void> {
  const { workflow_revision: latest } = await post(round, '/workflows/revisions/retrieve', {
    workflow_variant_ref: { slug: round.slug },
  })
  for (let change = 1; change <= LEAST_CHANGES || Date.now() < until; change++) {
    const message = `Commit ${number}.${change}`
    const { workflow_revision } = await post(round, '/workflows/revisions/commit', {
      workflow_revision_commit: {
        workflow_variant_id: latest.variant_id,
        message,
        data: { parameters: { number, change } },
      },
    })
    accepted.push({ branch: round.slug, message, version: workflow_revision.version })
    await pause(randomInt(round.idle + 1))
  }
}

interface Answer {
  readonly workflow_revision: { readonly variant_id: string; readonly version: number }
}

async function post({ url, key }: PushRound, path: string, body: object): Promise<Answer> {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `ApiKey ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`POST ${path} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer // the interface's shape; a difference shows as a failed proof
}

async function check({ repository }: PushRound, accepted: readonly Accepted[]): Promise<string[]> {
  const problems: string[] = []
  for (const branch of new Set(accepted.map((it) => it.branch))) {
    const log = await gitIn(repository, [
      'log',
      '--first-parent',
      '--reverse',
      '--format=%s',
      `refs/heads/${branch}`,
    ])
    const subjects = log.trimEnd().split('\n')
    for (const { message, version } of accepted.filter((it) => it.branch === branch)) {
      const [place = -1, again] = subjects.flatMap((it, index) => (it === message ? [index] : []))
      if (place < 0) problems.push(`"${message}" is not in the history of ${branch}`)
      else if (again !== undefined) problems.push(`"${message}" is in the history of ${branch} twice`)
      else if (version !== undefined && version !== place + 1) {
        problems.push(`"${message}" was answered as version ${version} and is ${place + 1}`)
      }
    }
  }
  const said = await gitIn(repository, ['fsck', '--strict', '--no-progress', '--no-dangling'])
  if (said !== '') problems.push(said)
  return problems
}

async function gitIn(folder: string, args: readonly string[]): Promise<string> {
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_TERMINAL_PROMPT: '0',
    ...AUTHOR,
  }
  const { stdout } = await run('git', args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })
  return stdout
}

const AUTHOR = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'Ann',
  GIT_AUTHOR_EMAIL: 'ann@example.com',
  GIT_COMMITTER_NAME: 'Ann',
  GIT_COMMITTER_EMAIL: 'ann@example.com',
}
