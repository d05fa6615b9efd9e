import { type Setting, SETTINGS } from '../../src/settings.ts'
import { markdownTable } from './generated-part.ts'

/** The settings of the server, as docs/configuration.md shows them. */
export function configurationTable(): string {
  return markdownTable([
    ['Variable', 'Default', 'Takes', 'Meaning'],
    ...Object.values<Setting<unknown>>(SETTINGS).map(({ variable, byDefault, unset, takes, meaning }) => [
      `\`${variable}\``,
      byDefault === undefined ? (unset ?? '') : `\`${byDefault}\``,
      takes,
      meaning,
    ]),
  ])
}
