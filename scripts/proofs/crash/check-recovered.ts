import { misjudged } from '../../../src/registry/verify/verify-index-file.ts'
import { readApiKeyFile } from '../../../src/access/keys/key-file.ts'
import { parseCommit, type ObjectKind, type Oid, parseTree } from '../../../src/git/objects/object.ts'
import type { Repository } from '../../../src/git/store/repository.ts'
import { workflowFamily } from '../../../src/run/handlers/workflows.ts'
import type { ArtifactView } from '../../../src/registry/artifacts/artifact-view.ts'
import { verifyArtifact } from '../../../src/registry/verify/verify-artifact.ts'
import { verifyIndex } from '../../../src/registry/verify/verify-index.ts'
import { expectedMirrors } from '../../../src/registry/verify/verify-mirrors.ts'
import { createArtifact } from '../../../src/registry/artifacts/create-artifact.ts'
import { undeleteArtifact } from '../../../src/registry/artifacts/trash-artifact.ts'
import type { CrashHistory, Fact, Removal } from './crash-history.ts'
import type { CrashServer } from './open-server.ts'
import { newRegistry, openServer, STORE } from './open-server.ts'
import type { SimulatedDisk } from '../../../test/support/disk/simulated-disk.ts'

/** What a history vouches for. */
type Vouched = Pick<CrashHistory, 'facts' | 'together' | 'made' | 'removals'>

/**
 * Starts a server on what a crash left and throws, with a sentence, if anything that was answered up to a step is not there, if
 * anything is there in part, if the store is not sound, or if it takes no further write.
 */
export async function checkRecovered({ fs }: SimulatedDisk, history: Vouched, until: number): Promise<void> {
  const server = await openServer(fs)
  await checkServer(server, history, until)
  await server.close()
  for (const name of fs.readDir(`${STORE}/.journal`) ?? []) throw new Error(`.journal/${name} is left over`)
}

/** The same of a server that was started; it stays open. */
export async function checkServer(server: CrashServer, history: Vouched, until: number): Promise<void> {
  const { registry } = server
  for (const { repository, reason } of registry.index.problems()) throw new Error(`${repository}: ${reason}`)
  await checkRemovals(server, history.removals, until)
  const artifacts = await allArtifacts(server)
  await checkFacts(
    server,
    artifacts,
    history.facts.filter(({ since }) => since <= until),
  )
  const messages = await messagesOf(artifacts)
  for (const { message, folders } of history.together) {
    const there = folders.filter((folder) => messages.get(folder)?.has(message))
    if (there.length > 0 && there.length < folders.length) {
      throw new Error(`${message} is in ${there.join(', ')} and not in all of ${folders.join(', ')}`)
    }
  }
  const folders = new Map(artifacts.map((artifact) => [artifact.repository.path, artifact]))
  for (const { folder, refs } of history.made) {
    const there = refs.filter((ref) => folders.get(folder)?.source.refs.refs.has(ref))
    if (there.length > 0 && there.length < refs.length) {
      throw new Error(`${folder} has ${there.join(', ')} and not all of ${refs.join(', ')}`)
    }
  }
  const mirrors = await expectedMirrors(registry)
  for (const artifact of artifacts) {
    await checkObjects(artifact.repository)
    checkFiles(server, artifact.repository.path)
    const { findings } = await verifyArtifact({ registry, mirrors, checkPayload: undefined }, artifact)
    for (const { kind, sentence } of findings) {
      if (kind !== 'note') throw new Error(`${artifact.repository.path}: ${sentence}`)
    }
  }
  await createArtifact(registry, workflowFamily, { slug: 'next', header: {}, loc: [] }, { actor: NOBODY })
  const rebuilt = await newRegistry(server)
  for (const problem of await verifyIndex(registry, rebuilt)) throw new Error(problem)
  await rebuilt.index.close()
  for (const family of registry.families) {
    const [slug] = await misjudged(registry.index, family)
    if (slug !== undefined)
      throw new Error(`${family.folder}/${slug}: the index file differs from its commits`)
  }
}

const NOBODY = { id: 'id', name: 'Ann', email: 'ann@example.com' }

/** What was removed is in the trash, or there where that was undone; what is in the trash comes back whole. */
async function checkRemovals(
  { fs, registry }: CrashServer,
  removals: readonly Removal[],
  until: number,
): Promise<void> {
  const begun = removals.filter(({ began }) => began <= until)
  for (const folder of new Set(begun.map((it) => it.folder))) {
    const [project = '', family = '', name = ''] = folder.slice(STORE.length + 1).split('/')
    const trashed = `${STORE}/${project}/.trash/${family}/${name}`
    const [isThere, isRemoved] = [folder, trashed].map((path) => fs.stat(`${path}/HEAD`) !== undefined)
    if (isThere === isRemoved) throw new Error(`${folder} is ${isThere ? 'in two places' : 'nowhere'}`)
    const own = begun.filter((it) => it.folder === folder)
    const isOver = ({ answered = Infinity }: Removal): boolean => answered <= until
    const last = own.filter(isOver).sort((a, b) => (b.answered ?? 0) - (a.answered ?? 0))[0]
    const may = [last?.isBack ?? true, ...own.filter((it) => !isOver(it)).map(({ isBack }) => isBack)]
    if (!may.includes(isThere === true))
      throw new Error(`${folder} ${isThere ? 'is there again' : 'is gone'}`)
  }
  for (const trashed of await registry.trash.list()) {
    await undeleteArtifact(registry, trashed, { actor: { ...NOBODY, mayDeploy: true } })
  }
  for (const { folder } of registry.families) {
    for (const slug of registry.store.trashedSlugs(folder)) throw new Error(`${slug} stays in the trash`)
  }
}

async function allArtifacts({ registry }: CrashServer): Promise<readonly ArtifactView[]> {
  const lists = await Promise.all(registry.families.map((family) => registry.index.list(family)))
  return lists.flatMap((list) => [...list])
}

async function checkFacts(
  { fs }: CrashServer,
  artifacts: readonly ArtifactView[],
  facts: readonly Fact[],
): Promise<void> {
  const keys = new Set(readApiKeyFile(fs, STORE, 'default').map(({ id }) => id))
  const byFolder = new Map(artifacts.map((artifact) => [artifact.repository.path, artifact]))
  // What was told of a ref last holds what was told before.
  const latest = new Map<string, { readonly write: string; readonly folder: string; readonly oid: Oid }>()
  for (const { write, apiKey, refs } of facts) {
    if (apiKey !== undefined && !keys.has(apiKey)) throw new Error(`what was answered is lost: ${write}`)
    for (const [ref, oid] of refs?.refs ?? []) {
      if (refs && !ref.startsWith('refs/environments/'))
        latest.set(`${refs.folder} ${ref}`, { write, folder: refs.folder, oid })
    }
  }
  for (const [name, { write, folder, oid }] of latest) {
    const artifact = byFolder.get(folder)
    const head = artifact?.source.refs.refs.get(name.slice(folder.length + 1))
    if (!artifact || !head || !(await chainOf(artifact.repository, head)).includes(oid)) {
      throw new Error(`what was answered is lost: ${write} (${name} was ${oid} and is ${head})`)
    }
  }
}

/** The subjects of all commits on the branches of each repository. */
async function messagesOf(
  artifacts: readonly ArtifactView[],
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const messages = new Map<string, Set<string>>()
  for (const { repository, variants } of artifacts) {
    const own = new Set<string>()
    messages.set(repository.path, own)
    for (const { head } of variants) {
      for (const oid of head === undefined ? [] : await chainOf(repository, head)) {
        own.add(parseCommit(await read(repository, oid, 'commit')).message.split('\n', 1)[0] ?? '')
      }
    }
  }
  return messages
}

/** The commit and its first parents. */
async function chainOf(repository: Repository, head: Oid): Promise<readonly Oid[]> {
  const chain: Oid[] = []
  for (let oid: Oid | undefined = head; oid !== undefined;) {
    chain.push(oid)
    oid = parseCommit(await read(repository, oid, 'commit')).parents[0]
  }
  return chain
}

/** Reads everything that any ref leads to. */
async function checkObjects(repository: Repository): Promise<void> {
  const seen = new Set<Oid>()
  const look = async (oid: Oid, kind: ObjectKind): Promise<void> => {
    if (seen.has(oid)) return
    seen.add(oid)
    const bytes = await read(repository, oid, kind)
    if (kind === 'commit') {
      const { tree, parents } = parseCommit(bytes)
      await look(tree, 'tree')
      for (const parent of parents) await look(parent, 'commit')
    } else if (kind === 'tree') {
      for (const { mode, oid: below } of parseTree(bytes))
        await look(below, mode === '40000' ? 'tree' : 'blob')
    }
  }
  for (const oid of new Set(repository.refs.snapshot().refs.values())) await look(oid, 'commit')
}

async function read(repository: Repository, oid: Oid, kind: ObjectKind): Promise<Buffer> {
  const bytes = await repository.objects.readKind(oid, kind)
  if (!bytes) throw new Error(`${repository.path}: the ${kind} ${oid} is missing`)
  return bytes
}

/** Nothing that a dead process left, on which git would stumble or which nobody would ever remove. */
function checkFiles({ fs }: CrashServer, folder: string): void {
  for (const name of fs.readDir(`${folder}/objects/pack`) ?? []) {
    if (/^\.?tmp[_-]/.test(name) || name.endsWith('.keep')) throw new Error(`${folder}: ${name} is left over`)
  }
  for (const name of fs.readDir(`${folder}/objects`) ?? []) {
    if (name.startsWith('incoming-')) throw new Error(`${folder}: ${name} is left over`)
  }
  for (const below of [
    '',
    '/objects/info',
    '/refs/heads',
    '/refs/tags',
    '/refs/meta',
    '/refs/environments',
  ]) {
    for (const name of fs.readDir(folder + below) ?? []) {
      if (/\.(?:lock|new)$/.test(name)) throw new Error(`${folder}${below}/${name} is left over`)
    }
  }
}
