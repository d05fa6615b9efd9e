import { v7 as uuidv7 } from 'uuid'
import { Refusal, invalid } from '../errors.ts'
import type { Fs } from '../storage/fs.ts'
import { principalOf } from './caller.ts'
import { keyAuthor } from './key-author.ts'
import { type ApiKey, readApiKeyFile, updateKeyFile } from './key-file.ts'
import { hashToken, newToken } from './key-token.ts'
import { DEFAULT_PROJECT, checkProjectName, isProjectName } from './project-name.ts'
import { SCOPES, type Scope } from './scope.ts'

/** What a new key is to be. */
export interface NewKey {
  readonly project: string
  readonly name: string
  readonly email?: string | undefined
  readonly scopes: readonly string[]
  /** Made unless given. */
  readonly id?: string | undefined
}

/** A key just made. The token is shown now or never. */
export interface MadeKey {
  readonly key: ApiKey
  readonly token: string
}

/**
 * Makes a key, durable once this resolves; the project's folder is made if need be. Several may have one name; an id is never used again.
 * Refuses a bad project, name, email or scope, and one live key too many.
 */
export async function createApiKey(fs: Fs, storeDir: string, wanted: NewKey): Promise<MadeKey> {
  const project = checkProjectName(wanted.project)
  const made = makeKey(wanted)
  return updateKeyFile(fs, storeDir, project, (keys) => {
    if (keys.filter(isLive).length >= MAX_LIVE_KEYS) throw tooManyKeys(project)
    return { keys: [...keys, made.key], answer: made }
  })
}

/** Makes the admin key `admin` of project `default` if the store holds no key at all, revoked ones included. */
export async function createFirstApiKey(fs: Fs, storeDir: string): Promise<MadeKey | undefined> {
  if (projectNames(fs, storeDir).some((project) => mayHaveKeys(fs, storeDir, project))) return undefined
  const made = makeKey({ name: 'admin', scopes: ['admin'] })
  return updateKeyFile(fs, storeDir, DEFAULT_PROJECT, (keys) =>
    // another process may have been first
    keys.length > 0 ? { keys, answer: undefined } : { keys: [made.key], answer: made },
  )
}

function makeKey({ id, name, email, scopes }: Omit<NewKey, 'project'>): MadeKey {
  const author = keyAuthor(name, email)
  const checked = checkScopes(scopes)
  const token = newToken()
  const key: ApiKey = {
    id: id ?? uuidv7(),
    ...author,
    scopes: checked,
    sha256: hashToken(token).toString('hex'),
    last4: token.slice(-4),
    created_at: new Date().toISOString(),
  }
  return { key, token }
}

/** An unknown token is compared with each live key. */
const MAX_LIVE_KEYS = 1000

/** Where the file cannot be read, somebody made keys; the authenticator tells what is wrong with it. */
function mayHaveKeys(fs: Fs, storeDir: string, project: string): boolean {
  try {
    return readApiKeyFile(fs, storeDir, project).length > 0
  } catch {
    return true
  }
}

/** A project's keys in the order they were made, revoked ones included. */
export function listApiKeys(fs: Fs, storeDir: string, project: string): readonly ApiKey[] {
  return readApiKeyFile(fs, storeDir, checkProjectName(project))
}

/** The names of a project's keys, by the ids of their principals; none where the file cannot be read, which the authenticator tells. */
export function keyNames(fs: Fs, storeDir: string, project: string): ReadonlyMap<string, string> {
  try {
    const principals = listApiKeys(fs, storeDir, project).map(principalOf)
    return new Map(principals.map(({ id, name }) => [id, name]))
  } catch {
    return new Map()
  }
}

/** Which key is meant. */
export type KeyChoice = { readonly id: string } | { readonly name: string }

/**
 * Ends a live key, named by id or by name: running servers refuse it from their next request on. The record stays, since
 * commits carry its author. Refuses when no live key of the project matches, when several have the name, and (`last_admin_key`) the last
 * one with `admin` unless `mayLeaveNone`.
 */
export async function revokeApiKey(
  fs: Fs,
  storeDir: string,
  project: string,
  which: KeyChoice,
  { mayLeaveNone = true } = {},
): Promise<ApiKey> {
  return updateKeyFile(fs, storeDir, checkProjectName(project), (keys) => {
    const found = liveKeyIn(keys, project, which)
    const live = keys.filter(isLive)
    const isAdmin = ({ scopes }: ApiKey): boolean => scopes.includes('admin')
    if (!mayLeaveNone && isAdmin(found) && live.filter(isAdmin).length === 1) throw lastAdminKey(found)
    const revoked = { ...found, revoked_at: new Date().toISOString() }
    return { keys: keys.map((key) => (key === found ? revoked : key)), answer: revoked }
  })
}

/** The live key that is meant. Refuses when none of the project's keys matches, and when several have the name. */
export function liveKeyIn<K extends NamedKey>(keys: readonly K[], project: string, which: KeyChoice): K {
  const live = keys.filter(isLive)
  const [found, ...others] = live.filter((key) =>
    'id' in which ? key.id === which.id : key.name === which.name,
  )
  if (!found) throw noSuchKey(live, project, which)
  if (others.length > 0) throw severalKeys([found, ...others], project)
  return found
}

/** As much of a key as it is chosen by. */
type NamedKey = Pick<ApiKey, 'id' | 'name' | 'revoked_at'>

/** Whether the key has not been revoked. */
export function isLive(key: Pick<ApiKey, 'revoked_at'>): boolean {
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

function tooManyKeys(project: string): Refusal {
  return new Refusal(
    'limit_exceeded',
    `Project "${project}" has ${MAX_LIVE_KEYS} live keys, which is the most. Revoke one that is not needed.`,
  )
}

function noSuchKey(live: readonly NamedKey[], project: string, which: KeyChoice): Refusal {
  const [field, value] = 'id' in which ? ['id', which.id] : ['name', which.name]
  const known =
    live.length > 0 ? `its live keys are ${live.map(({ name }) => name).join(', ')}` : 'it has no live keys'
  return new Refusal(
    'key_not_found',
    `Project "${project}" has no live key with the ${field} "${value}"; ${known}.`,
  )
}

function severalKeys(keys: readonly NamedKey[], project: string): Refusal {
  const ids = keys.map(({ id }) => id).join(', ')
  return invalid(
    ['name'],
    `project "${project}" has ${keys.length} live keys of this name: give the id of one, ${ids}.`,
  )
}

function lastAdminKey({ name }: ApiKey): Refusal {
  return new Refusal(
    'last_admin_key',
    `"${name}" is the last live key of the project with the scope admin, and SVC_API_KEY is not set: nobody could make keys any more. Make another admin key first.`,
  )
}
