import { v7 as uuidv7 } from 'uuid'
import { Refusal, invalid } from '../errors.ts'
import type { Fs } from '../git/fs.ts'
import { holdingLock } from '../git/lock.ts'
import { makeDurableDir } from '../git/make-durable-dir.ts'
import { keyAuthor } from './key-author.ts'
import { type ApiKey, readKeyFile, replaceKeyFile } from './key-file.ts'
import { hashToken, newToken } from './key-token.ts'
import { DEFAULT_PROJECT, checkProjectName, isProjectName } from './project-name.ts'
import { SCOPES, type Scope } from './scope.ts'

/** What a new key is to be. */
export interface NewKey {
  readonly project: string
  readonly name: string
  readonly email?: string | undefined
  readonly scopes: readonly string[]
}

/** A key just made. The token is shown now or never. */
export interface MadeKey {
  readonly key: ApiKey
  readonly token: string
}

/**
 * Makes a key, durable once this resolves; the project's folder is made if need be. Refuses a bad project, name, email or
 * scope, and a name that another live key of the project has (`slug_taken`), so that `revoke --name` is never ambiguous.
 */
export async function createApiKey(fs: Fs, storeDir: string, wanted: NewKey): Promise<MadeKey> {
  const project = checkProjectName(wanted.project)
  const author = keyAuthor(wanted.name, wanted.email)
  const scopes = checkScopes(wanted.scopes)
  return changeKeys(fs, storeDir, project, (keys) => {
    if (keys.some((key) => isLive(key) && key.name === author.name)) throw nameTaken(author.name, project)
    const token = newToken()
    const key: ApiKey = {
      id: uuidv7(),
      ...author,
      scopes,
      sha256: hashToken(token).toString('hex'),
      last4: token.slice(-4),
      created_at: new Date().toISOString(),
    }
    return { keys: [...keys, key], answer: { key, token } }
  })
}

/** Makes the admin key `admin` of project `default` if the store holds no key at all, revoked ones included. */
export async function createFirstApiKey(fs: Fs, storeDir: string): Promise<MadeKey | undefined> {
  if (projectNames(fs, storeDir).some((project) => mayHaveKeys(fs, storeDir, project))) return undefined
  try {
    return await createApiKey(fs, storeDir, { project: DEFAULT_PROJECT, name: 'admin', scopes: ['admin'] })
  } catch (error) {
    if (error instanceof Refusal && error.code === 'slug_taken') return undefined // another process was first
    throw error
  }
}

/** Where the file cannot be read, somebody made keys; the authenticator tells what is wrong with it. */
function mayHaveKeys(fs: Fs, storeDir: string, project: string): boolean {
  try {
    return readKeyFile(fs, storeDir, project).length > 0
  } catch {
    return true
  }
}

/** A project's keys in the order they were made, revoked ones included. */
export function listApiKeys(fs: Fs, storeDir: string, project: string): readonly ApiKey[] {
  return readKeyFile(fs, storeDir, checkProjectName(project))
}

/**
 * Ends a live key, named by id or by name: running servers refuse it from their next request on. The record stays, since
 * commits carry its author. Refuses when no live key of the project matches.
 */
export async function revokeApiKey(
  fs: Fs,
  storeDir: string,
  project: string,
  which: { readonly id: string } | { readonly name: string },
): Promise<ApiKey> {
  return changeKeys(fs, storeDir, checkProjectName(project), (keys) => {
    const found = keys.find(
      (key) => isLive(key) && ('id' in which ? key.id === which.id : key.name === which.name),
    )
    if (!found) throw noSuchKey(keys, project, which)
    const revoked = { ...found, revoked_at: new Date().toISOString() }
    return { keys: keys.map((key) => (key === found ? revoked : key)), answer: revoked }
  })
}

/** Whether the key has not been revoked. */
export function isLive(key: ApiKey): boolean {
  return key.revoked_at === undefined
}

/** The projects of a store, sorted; those that only have a folder too. */
export function projectNames(fs: Fs, storeDir: string): readonly string[] {
  return (fs.readDir(storeDir) ?? [])
    .filter((name) => isProjectName(name) && fs.stat(`${storeDir}/${name}`)?.kind === 'folder')
    .sort()
}

function checkScopes(scopes: readonly string[]): readonly Scope[] {
  const unknown = scopes.find((scope) => !(SCOPES as readonly string[]).includes(scope))
  if (unknown !== undefined) {
    throw invalid(['scopes'], `${JSON.stringify(unknown)} is not a scope: use some of ${SCOPES.join(', ')}.`)
  }
  if (scopes.length === 0)
    throw invalid(['scopes'], `a key needs at least one scope of ${SCOPES.join(', ')}.`)
  return SCOPES.filter((scope) => scopes.includes(scope))
}

/** Reads, changes and replaces the file under a lock, so that two processes at once lose nothing. */
async function changeKeys<T>(
  fs: Fs,
  storeDir: string,
  project: string,
  change: (keys: readonly ApiKey[]) => { readonly keys: readonly ApiKey[]; readonly answer: T },
): Promise<T> {
  const folder = `${storeDir}/${project}`
  await makeDurableDir(fs, folder)
  return holdingLock(fs, folder, 'keys', async () => {
    const { keys, answer } = change(readKeyFile(fs, storeDir, project))
    await replaceKeyFile(fs, storeDir, project, keys)
    return answer
  })
}

function nameTaken(name: string, project: string): Refusal {
  return new Refusal(
    'slug_taken',
    `Project "${project}" has a key named "${name}" already: choose another name, or revoke that key first.`,
    { conflict: { name } },
  )
}

function noSuchKey(
  keys: readonly ApiKey[],
  project: string,
  which: { readonly id: string } | { readonly name: string },
): Refusal {
  const [field, value] = 'id' in which ? ['id', which.id] : ['name', which.name]
  const live = keys.filter(isLive).map((key) => key.name)
  const known = live.length > 0 ? `its live keys are ${live.join(', ')}` : 'it has no live keys'
  return invalid(
    [field],
    `project "${project}" has no live key with the ${field} "${value}"; ${known}.`,
    'not_found',
  )
}
