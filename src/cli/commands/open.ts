import {
  type KeyChoice,
  liveKeyIn,
  openKeyRing,
  DEFAULT_PROJECT,
  keyOfLink,
  Sessions,
} from '../../access/keys.ts'
import type { Config } from '../../config.ts'
import { reachableHost } from '../../http/server.ts'
import { signInLink } from '../../http/public-routes.ts'
import { askServer, projectOfKey } from '../command/ask-server.ts'
import type { ChosenServer } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { placeOf, PLACE_USAGE } from '../command/place.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { withDocuments } from '../command/with-documents.ts'

const USAGE = `Print a link that opens the page signed in: good once, within 15 minutes.

  branchpoint open [--name NAME | --id ID] [--project PROJECT]

  NAME, ID   of the key that the browser works with. At a server it is your own key unless given; another one needs the scope admin.
             In a store it is the key in SVC_API_KEY unless given, or else the oldest one with the scope admin
  PROJECT    "${DEFAULT_PROJECT}" unless given; a server works in the key's

A link that is made in a store names PUBLIC_URL, or HOST and PORT. Everyone who may write to a store may make a link.

${PLACE_USAGE}

Example:
  branchpoint open --name Pat`

export const openCommand: Command = { usage: USAGE, run }

async function run(args: readonly string[], { environment, progress, print }: Shell): Promise<number> {
  const { values } = readArguments(args, VERBS.open.options, { usage: USAGE, takesWords: false })
  const { name, id } = values
  if (name !== undefined && id !== undefined) throw new UsageError('open takes --name or --id.', USAGE)
  const key = id !== undefined ? { id } : name !== undefined ? { name } : undefined
  const place = placeOf(values, environment, USAGE)
  const { url, holder } =
    place.kind === 'server'
      ? await linkOfServer(place.server, values.project, key)
      : await linkOfStore(place.config, values.project, key)
  // Only the link goes to standard output, so that another program can open it.
  progress.write(`Made a link ${place.shown}. It opens the page with ${holder}, once, within 15 minutes:\n`)
  print(url)
  return 0
}

interface MadeLink {
  readonly url: string
  /** The key that the browser will use. */
  readonly holder: string
}

/** The server makes the link, so it works whatever store the server has, and also for SVC_API_KEY, which is in no store. */
async function linkOfServer(
  server: ChosenServer,
  project: string | undefined,
  choice: KeyChoice | undefined,
): Promise<MadeLink> {
  const ofKey = await projectOfKey(server, project)
  const key = choice && (await keyOfServer(server, ofKey, choice))
  const body = { link: key ? { key: key.id } : {} }
  const { link } = await askServer<{ readonly link: { readonly url: string } }>(
    server,
    'POST',
    '/sessions/links',
    {
      body,
    },
  )
  // The link gets the address from the command line; without PUBLIC_URL the server does not know it.
  const { pathname, hash } = new URL(link.url)
  return { url: `${server.url}${pathname}${hash}`, holder: key ? `the key "${key.name}"` : 'your key' }
}

async function keyOfServer(server: ChosenServer, project: string, choice: KeyChoice) {
  const { keys } = await askServer<{ readonly keys: readonly AnsweredKey[] }>(server, 'GET', '/keys')
  const live = keys.flatMap(({ id, name, revoked_at }) => (revoked_at === null ? [{ id, name }] : []))
  return liveKeyIn(live, project, choice)
}

interface AnsweredKey {
  readonly id: string
  readonly name: string
  readonly revoked_at: string | null
}

async function linkOfStore(
  config: Config,
  project = DEFAULT_PROJECT,
  key: KeyChoice | undefined,
): Promise<MadeLink> {
  const onDamage = (error: unknown): never => {
    throw error
  }
  const url = config.publicUrl ?? `http://${reachableHost(config.host)}:${config.port}`
  return withDocuments(config, project, async ({ fs, storeDir }) => {
    const keys = openKeyRing({ fs, storeDir, adminToken: config.adminKey, onDamage })
    const caller = keyOfLink(fs, storeDir, keys, { project, key })
    const sessions = new Sessions({ fs, storeDir, keys, now: () => new Date(), onDamage })
    const link = await signInLink(sessions, caller, url.replace(/\/+$/, ''))
    return { url: link.url, holder: `the key "${caller.key.name}"` }
  })
}
