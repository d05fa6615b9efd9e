import { dirname } from 'node:path'
import { readApiKeyFile, isProjectName, projectRecords } from '../../access/keys.ts'
import { Refusal } from '../../errors.ts'
import { readLogLine } from '../../run/evaluations.ts'
import { readSecretFile, readStoreKey } from '../../access/secrets.ts'
import { createDurableFolder, documentsOf, type Fs, nodeFs } from '../../storage/files.ts'
import { parseUuid } from '../../registry/registries.ts'
import { delivery, webhook } from '../../feeds/webhooks.ts'

/** A store's folder, for the state outside its repositories. */
export interface StateFolder {
  readonly fs: Fs
  readonly dir: string
}

/** Only the owner may read it: it has credentials of this service and of others. */
const MODE = 0o600

/**
 * Copies the state of these projects into a backup, under the same paths as in a store: keys, secrets, webhooks with their deliveries, and
 * evaluations. Removes what the store no longer has. Call it before backing up the repositories, so that no webhook has reported a change
 * that they lack. Answers the number of files.
 */
export async function backUpState(
  from: StateFolder,
  to: string,
  projects: readonly string[],
): Promise<number> {
  const paths = pathsOf(from, projects)
  const wanted = new Set(paths)
  for (const path of pathsOf({ fs: nodeFs, dir: to }, projects)) {
    if (wanted.has(path)) continue
    nodeFs.remove(`${to}/${path}`)
    await nodeFs.syncDir(dirname(`${to}/${path}`))
  }
  let count = 0
  for (const path of paths) {
    const bytes = from.fs.readFile(`${from.dir}/${path}`)
    // Deliveries may have been removed meanwhile.
    if (!bytes) continue
    count++
    if (nodeFs.readFile(`${to}/${path}`)?.equals(bytes)) continue
    await createDurableFolder(nodeFs, dirname(`${to}/${path}`))
    const temporary = `${to}/${path}.new`
    nodeFs.remove(temporary)
    await nodeFs.createSynced(temporary, bytes, MODE)
    nodeFs.rename(temporary, `${to}/${path}`)
    await nodeFs.syncDir(dirname(temporary))
  }
  return count
}

/** How many files of the state were restored, how many existed already, and why others were not restored. */
export interface RestoredState {
  readonly restored: number
  readonly there: number
  readonly failures: readonly string[]
}

/**
 * Restores the state of these projects. Refuses files that a server would not write; a file that differs from the backup's stays unchanged.
 */
export async function restoreState(
  from: string,
  { fs, dir }: StateFolder,
  projects: readonly string[],
): Promise<RestoredState> {
  const documents = documentsOf(fs)
  let restored = 0
  let there = 0
  const failures: string[] = []
  for (const path of pathsOf({ fs: nodeFs, dir: from }, projects)) {
    const bytes = nodeFs.readFile(`${from}/${path}`)
    if (!bytes) continue
    const problem = problemOf(from, path, bytes)
    if (problem !== undefined) failures.push(`${path}: ${problem} It was not restored.`)
    else if (await documents.create(`${dir}/${path}`, bytes, { mode: MODE })) restored++
    else if (fs.readFile(`${dir}/${path}`)?.equals(bytes)) there++
    else
      failures.push(
        `${path}: the store has another one, which was left as it is. State is restored into a store that no server has written to.`,
      )
  }
  return { restored, there, failures }
}

/** Why a file of a backup is not one that a server writes; undefined if it is. A backup may be damaged or forged. */
function problemOf(from: string, path: string, bytes: Buffer): string | undefined {
  const [project = '', kind, id, ...rest] = path.split('/')
  try {
    if (path === 'secrets.key') readStoreKey(nodeFs, from)
    else if (path === 'default/projects.json') projectRecords(nodeFs, from)
    else if (kind === 'keys.json') readApiKeyFile(nodeFs, from, project)
    else if (kind === 'secrets.json') readSecretFile(nodeFs, from, project)
    else if (kind === 'evaluations' && isNamed(id, '.jsonl') && rest.length === 0) return problemOfLog(bytes)
    else if (kind === 'webhooks' && id === 'told')
      bytes
        .toString('utf8')
        .trim()
        .split('\n')
        .filter(Boolean)
        .forEach((line) => void JSON.parse(line))
    else if (kind === 'webhooks' && isNamed(id) && rest.join('/') === 'webhook.json')
      webhook.parse(JSON.parse(bytes.toString('utf8')))
    else if (
      kind === 'webhooks' &&
      isNamed(id) &&
      rest.length === 2 &&
      rest[0] === 'deliveries' &&
      isNamed(rest[1], '.json')
    )
      delivery.parse(JSON.parse(bytes.toString('utf8')))
    else return 'no store has a file of this name.'
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error.message
    return 'it does not hold what a server writes there.' // no JSON, or wrong fields
  }
}

/** The last line may be incomplete after a power cut. */
function problemOfLog(bytes: Buffer): string | undefined {
  const lines = bytes.toString('utf8').split('\n').slice(0, -1)
  const at = lines.findIndex((line) => line !== '' && readLogLine(line) === undefined)
  return at < 0 ? undefined : `line ${at + 1} is none that an evaluation writes.`
}

function isNamed(name: string | undefined, ending = ''): boolean {
  return (
    name !== undefined &&
    name.endsWith(ending) &&
    parseUuid(name.slice(0, name.length - ending.length)) !== undefined
  )
}

/**
 * The files of the state, relative to the store. The position of the webhooks comes first, so that later events are sent again, with the same
 * ids.
 */
function pathsOf(store: StateFolder, projects: readonly string[]): string[] {
  const { fs, dir } = store
  const files = ['secrets.key', 'default/projects.json']
  for (const project of projects.filter(isProjectName)) {
    files.push(`${project}/webhooks/told`, `${project}/keys.json`, `${project}/secrets.json`)
    for (const folder of ['webhooks', 'evaluations'])
      for (const file of filesBelow(store, `${project}/${folder}`)) files.push(file)
  }
  return [...new Set(files)].filter((path) => fs.stat(`${dir}/${path}`)?.kind === 'file')
}

/** All files below a folder, without temporary files and locks. */
function filesBelow({ fs, dir }: StateFolder, folder: string): string[] {
  return (fs.readDir(`${dir}/${folder}`) ?? []).sort().flatMap((name) => {
    const path = `${folder}/${name}`
    if (fs.stat(`${dir}/${path}`)?.kind === 'folder') return filesBelow({ fs, dir }, path)
    return /\.(?:new|lock)$/.test(name) ? [] : [path]
  })
}
