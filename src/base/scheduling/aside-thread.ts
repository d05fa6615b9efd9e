import type { AsideCall } from './run-aside.ts'

/** Runs a call in a thread of `runAside`. */
export default async function callAside({ module, name, argument }: AsideCall): Promise<unknown> {
  const exported = (await import(module)) as Readonly<Record<string, (argument: unknown) => unknown>>
  const run = exported[name]
  if (!run) throw new Error(`${module} exports no ${name}`)
  return run(argument)
}
