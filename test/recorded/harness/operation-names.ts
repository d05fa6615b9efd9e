import { startRecordedServer } from './servers.ts'

/** Every operation of the OpenAPI document, git's included: `GET /workflows/{id}`. */
export async function operationNames(): Promise<readonly string[]> {
  const server = await startRecordedServer('plain')
  try {
    const answer = await fetch(`${server.url}/openapi.json`)
    const { paths } = (await answer.json()) as { readonly paths: Readonly<Record<string, object>> }
    return Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
  } finally {
    await server.stop()
  }
}
