import { textFrom } from '../command/ask-server.ts'
import { report, serverOf, wordsOf } from '../command/at-server.ts'
import { SERVER_USAGE } from '../command/chosen-server.ts'
import type { Command, Shell } from '../command/command.ts'
import { NAME_USAGE, parseName, retrieve, shownRevision } from '../command/names.ts'
import { readArguments } from '../command/read-arguments.ts'
import { VERBS } from '../command/verbs.ts'

const USAGE = `branchpoint fork NAME NEW-VARIANT [--json]

  Makes a variant that begins at a version. From then on both change by themselves.

${NAME_USAGE}
  NEW-VARIANT    its name
  --json         prints the server's answer
${SERVER_USAGE}

Example:
  branchpoint fork support-bot@1 warmer`

/** The command `fork`: a new variant. */
export const forkCommand: Command = { usage: USAGE, needsWords: true, run }

async function run(args: readonly string[], shell: Shell): Promise<number> {
  const { values, positionals } = readArguments(args, VERBS.fork.options, { usage: USAGE })
  const needed = { least: 2, missing: 'Name what to fork, and the new variant.' }
  const [word = '', slug = ''] = wordsOf(positionals, needed, USAGE)
  const name = parseName(word, USAGE)
  const server = await serverOf(values, shell, USAGE)
  const { artifact, revision } = await retrieve(server, name)
  const { path, singular } = artifact.kind
  const body = { [`${singular}_variant`]: { slug }, [`${singular}_revision_ref`]: { id: revision.id } }
  const text = await textFrom(server, 'POST', `/${path}/variants/fork`, { body })
  report(
    shell,
    server,
    values.json,
    text,
    `Forked ${shownRevision(artifact, revision)} as ${artifact.slug}:${slug}`,
  )
  return 0
}
