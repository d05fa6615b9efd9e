/** A value as one text: texts as they are, everything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** The same in fewer signs for an object: `country: Peru · capital: Lima`. */
export function excerptOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return clipped(textOf(value))
  const members = Object.entries(value).slice(0, MEMBERS)
  return clipped(members.map(([name, member]) => `${clipped(name)}: ${clipped(textOf(member))}`).join(' · '))
}

/** More members than this are not seen in a cell. */
const MEMBERS = 12

/** At most so many characters of a text, for a cell of a table: the rest is not seen there, and laying it out takes time. */
export function clipped(text: string): string {
  return text.length > MOST ? `${text.slice(0, MOST)}…` : text
}

const MOST = 300
