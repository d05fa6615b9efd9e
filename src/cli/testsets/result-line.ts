import type { Revision } from '../../registry/revisions.ts'

/** `Created capitals: version 1, 3 rows, revision <id>, 0.2 s`; `done` is the part before the colon. */
export function resultLine(
  done: string,
  { version, id }: Pick<Revision, 'version' | 'id'>,
  { rows, seconds }: { readonly rows: number; readonly seconds: number },
): string {
  const held = `${rows} ${rows === 1 ? 'row' : 'rows'}`
  return `${done}: version ${version}, ${held}, revision ${id}, ${seconds.toFixed(1)} s`
}
