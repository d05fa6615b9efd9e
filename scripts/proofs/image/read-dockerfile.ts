/** An instruction of a Dockerfile, with its continued lines in one. */
export interface Instruction {
  readonly name: string
  readonly rest: string
}

/** The instructions of a Dockerfile, in order. Comments are left out. */
export function readDockerfile(text: string): readonly Instruction[] {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^\s*(\S+)\s*(.*)$/.exec(line) ?? []
      return { name: name.toUpperCase(), rest }
    })
}

/** What an image says of its container. */
export interface ImageSettings {
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  readonly folder: string
  readonly volumes: readonly string[]
  readonly healthcheck: readonly string[]
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
}

/** The settings that a stage's instructions make. */
export function settingsOf(instructions: readonly Instruction[]): ImageSettings {
  const all = (name: string): readonly string[] =>
    instructions.filter((it) => it.name === name).map(({ rest }) => rest)
  const last = (name: string): string => all(name).at(-1) ?? ''
  const env = all('ENV').flatMap((rest) =>
    rest.split(/\s+/).map((pair): [string, string] => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
  return {
    env: Object.fromEntries(env),
    user: last('USER'),
    folder: last('WORKDIR') || '/',
    volumes: all('VOLUME'),
    healthcheck: listIn(/\[.*\]/.exec(last('HEALTHCHECK'))?.[0] ?? '[]'),
    entrypoint: listIn(last('ENTRYPOINT') || '[]'),
    command: listIn(last('CMD') || '[]'),
  }
}

function listIn(text: string): readonly string[] {
  return JSON.parse(text) as readonly string[] // the exec form is a list of texts
}
