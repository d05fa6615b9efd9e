import { hashObject, encodeTree } from '../../../src/git/objects/object.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import type { Store } from '../../../src/git/store/store.ts'
import type { Transaction } from '../../../src/git/transactions/transaction.ts'

const TREE = encodeTree([])

/** Makes a repository whose branch `main` has a commit. */
export async function newRepository(store: Store, slug: string, family = 'workflows'): Promise<void> {
  const project = await store.project('default')
  const tree = object('tree', TREE)
  const commit = object('commit', commitBytes(tree.oid, undefined, `begun ${family} ${slug}`))
  const refs = new Map([
    ['refs/heads/main', commit.oid],
    ['refs/meta/artifact', commit.oid],
  ])
  await project.create(family, slug, { objects: [tree, commit], refs, head: 'main' })
}

/** Adds a commit to `main`. */
export async function commitOnMain(repository: Repository, message: string): Promise<void> {
  await repository.transact(async (transaction) => void commitOnto(transaction, message))
}

/** The same in a transaction; answers the commit. */
export function commitOnto(transaction: Transaction, message: string): string {
  const tree = transaction.write('tree', TREE)
  const commit = transaction.write('commit', commitBytes(tree, transaction.ref('refs/heads/main'), message))
  transaction.move('refs/heads/main', commit)
  return commit
}

/** Where `main` is. */
export function tipOf(repository: Repository): string | undefined {
  return repository.refs.snapshot().refs.get('refs/heads/main')
}

function commitBytes(tree: string, parent: string | undefined, message: string): Buffer {
  const who = 'Ann <ann@example.com> 1700000000 +0000'
  const parents = parent === undefined ? [] : [`parent ${parent}`]
  const lines = [`tree ${tree}`, ...parents, `author ${who}`, `committer ${who}`]
  return Buffer.from(`${lines.join('\n')}\n\n${message}\n`)
}

function object(kind: 'tree' | 'commit', bytes: Buffer) {
  return { kind, bytes, oid: hashObject(kind, bytes) }
}
