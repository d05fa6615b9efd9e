import { openKeyRing } from '../../access/authenticator.ts'
import { DEFAULT_PROJECT } from '../../access/project-name.ts'
import { keyOfLink } from '../../access/sessions/link-key.ts'
import { Sessions } from '../../access/sessions/sessions.ts'
import { readConfig } from '../../config.ts'
import { reachableHost } from '../../http/server/server.ts'
import { signInLink } from '../../http/sessions/sign-in-link.ts'
import type { Command, Shell } from '../command/command.ts'
import { readArguments } from '../command/read-arguments.ts'
import { UsageError } from '../command/usage-error.ts'
import { VERBS } from '../command/verbs.ts'
import { withDocuments } from '../command/with-documents.ts'

const USAGE = `Print a link that opens the page signed in: good once, within 15 minutes.

  branchpoint open [--name NAME | --id ID] [--project PROJECT] [--url URL]

  NAME, ID   of the key that the browser works with; the key in SVC_API_KEY unless given, or else the oldest one with the scope admin
  PROJECT    "${DEFAULT_PROJECT}" unless given
  URL        where browsers reach the server: BRANCHPOINT_URL unless given, or else PUBLIC_URL, or HOST and PORT

The store is the folder in STORE_DIR (./store unless set), or the database in STORE; whoever may write to it may make a link.`

/** The command `open`. */
export const openCommand: Command = { usage: USAGE, run }

async function run(args: readonly string[], { environment, progress, print }: Shell): Promise<number> {
  const { values } = readArguments(args, VERBS.open.options, { usage: USAGE, takesWords: false })
  const { project = DEFAULT_PROJECT, name, id } = values
  if (name !== undefined && id !== undefined) throw new UsageError('open takes --name or --id.', USAGE)
  const key = id !== undefined ? { id } : name !== undefined ? { name } : undefined
  const config = readConfig(environment)
  const onDamage = (error: unknown): never => {
    throw error
  }
  const url =
    values.url ??
    (environment['BRANCHPOINT_URL'] || undefined) ??
    config.publicUrl ??
    `http://${reachableHost(config.host)}:${config.port}`
  const { caller, link } = await withDocuments(config, project, async ({ fs, storeDir }) => {
    const keys = openKeyRing({ fs, storeDir, adminToken: config.adminKey, onDamage })
    const caller = keyOfLink(fs, storeDir, keys, { project, key })
    const sessions = new Sessions({ fs, storeDir, keys, now: () => new Date(), onDamage })
    return { caller, link: await signInLink(sessions, caller, url.replace(/\/+$/, '')) }
  })
  // The link alone on standard output, for whatever opens it.
  progress.write(`Opens the page with the key "${caller.key.name}", once, within 15 minutes:\n`)
  print(link)
  return 0
}
