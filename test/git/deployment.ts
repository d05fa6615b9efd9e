import { cpSync, mkdirSync } from 'node:fs'
import { git, temporaryFolder } from '../support/git/git-program.ts'
import type { Repository } from '../../src/git/store/repository.ts'
import { Store } from '../../src/git/store/store.ts'
import { transactAcross } from '../../src/git/store/repository.ts'
import type { Fs } from '../../src/storage/files/fs.ts'
import { nodeFs } from '../../src/storage/files/node-fs.ts'
import { commitOn } from '../support/git/commit-on.ts'

export const MAIN = 'refs/heads/main'
export const LIVE = 'refs/environments/live'

/** Repositories that the tests write to at once: an environment, what it runs next, and what it ran before. */
export interface Deployed {
  readonly environment: Repository
  readonly next: Repository
  readonly previous: Repository
}

/** Their folders in a store. */
export const FOLDERS = {
  environment: 'default/environments/live.git',
  next: 'default/workflows/a.git',
  previous: 'default/workflows/b.git',
} as const

let prepared: string | undefined

/** A store with these repositories; `previous` has LIVE loose and, with an older value, packed. Answers its folder. */
export async function storeToDeploy(): Promise<string> {
  const folder = temporaryFolder()
  prepared ??= await prepareStore()
  cpSync(prepared, folder, { recursive: true })
  return folder
}

/** The repositories as a server has them. */
export async function openDeployed(fs: Fs, folder: string): Promise<{ store: Store; deployed: Deployed }> {
  const store = await Store.open(fs, folder)
  const project = await store.project('default')
  return {
    store,
    deployed: {
      environment: project.repository('environments', 'live'),
      next: project.repository('workflows', 'a'),
      previous: project.repository('workflows', 'b'),
    },
  }
}

/** Commits to `next` and deploys the commit: what must happen altogether or not at all. */
export function deploy({ environment, next, previous }: Deployed): Promise<string> {
  return transactAcross([next, environment, previous], async ([a, env, b]) => {
    if (!a || !env || !b) throw new Error('a transaction is missing')
    const commit = commitOn(a, MAIN, 'deployed')
    a.setDerivedRef(LIVE, commit)
    commitOn(env, MAIN, commit)
    b.removeDerivedRef(LIVE)
    return commit
  })
}

/** Whether the deployment is there, as git sees it; what is there in part is described. */
export function isDeployed(folder: string): boolean | string {
  const [environment = '', next = '', previous = ''] = Object.values(FOLDERS).map(
    (path) => `${folder}/${path}`,
  )
  const [ofNext, ofEnvironment, ofPrevious] = [refsOf(next), refsOf(environment), refsOf(previous)]
  const [main, deployed] = [ofNext[MAIN], ofEnvironment[MAIN]?.subject]
  const parts = {
    next: main?.subject === 'deployed',
    mirror: ofNext[LIVE]?.oid === main?.oid,
    environment: deployed === 'first' ? false : deployed === main?.oid || deployed,
    previous: ofPrevious[LIVE] === undefined,
  }
  return new Set<unknown>(Object.values(parts)).size === 1 ? parts.next : JSON.stringify(parts)
}

async function prepareStore(): Promise<string> {
  const folder = temporaryFolder()
  const { store, deployed } = await openDeployed(nodeFs, folder)
  const project = await store.project('default')
  for (const [family, slug] of [
    ['environments', 'live'],
    ['workflows', 'a'],
    ['workflows', 'b'],
  ] as const) {
    mkdirSync(`${folder}/default/${family}`, { recursive: true })
    await project.create(family, slug, { objects: [], refs: new Map(), head: 'main' })
  }
  for (const repository of Object.values(deployed) as Repository[]) {
    await repository.transact(async (transaction) => commitOn(transaction, MAIN, 'first'))
  }
  const previous = `${folder}/${FOLDERS.previous}`
  for (const message of ['second', 'third']) {
    git(previous, ['update-ref', LIVE, git(previous, ['rev-parse', 'main'])])
    git(previous, ['pack-refs', '--all'])
    await deployed.previous.transact(async (transaction) => commitOn(transaction, MAIN, message))
  }
  git(previous, ['update-ref', LIVE, git(previous, ['rev-parse', 'main'])])
  await store.close()
  return folder
}

/** Where MAIN and LIVE are, as git sees it. */
function refsOf(folder: string): Record<string, { readonly oid: string; readonly subject: string }> {
  const refs = git(folder, [
    'for-each-ref',
    '--format=%(refname) %(objectname) %(contents:subject)',
    MAIN,
    LIVE,
  ])
  return Object.fromEntries(
    refs
      .split('\n')
      .map((line) => line.split(' '))
      .map(([name = '', oid = '', ...subject]) => [name, { oid, subject: subject.join(' ') }]),
  )
}
