import { relative } from 'node:path/posix'
import { groupBy } from '../../src/base/json/json-values.ts'
import { AT_THE_ROOT, CONFINED, MAX_DOORS, MAX_ROOMS, ROOMS } from './rooms.ts'
import type { SourceFile } from './source-file.ts'

/** The folder of all rooms. */
export const ROOT = 'src'

/** Imports of a room that is above, of a file that is no door of its room, or of a folder of the own room that is above. */
export function wrongImports({ path, imports }: SourceFile): string[] {
  const own = roomOf(path)
  return imports.flatMap((target) => {
    const room = roomOf(target)
    if (own === '.')
      return room === '.' || isDoor(target) ? [] : [`${path} imports ${target}, which is no door`]
    if (room === '.') return mayUseRoot(own, target) ? [] : [`${path} imports ${target}, which is above it`]
    if (!ROOMS[own]) return [`${path}: there is no room ${own} (scripts/check-imports/rooms.ts)`]
    if (room === own) return wrongInRoom(path, target)
    if (!ROOMS[own].uses.includes(room)) return [`${path} imports ${target}: ${own} may not use ${room}`]
    return isDoor(target)
      ? []
      : [
          `${path} imports ${target}, which lies inside ${room}: import it from a file right in ${ROOT}/${room}`,
        ]
  })
}

/** Doors are for other rooms, and folders use those beside and below them. */
function wrongInRoom(path: string, target: string): string[] {
  const { layers = [] } = ROOMS[roomOf(path)] ?? {}
  const levelOf = (file: string): number => {
    const level = layers.findIndex((folders) => folders.includes(folderOf(file)))
    return level < 0 ? layers.length : level
  }
  if (isDoor(path) || isDoor(target) || levelOf(path) <= levelOf(target)) return []
  return [`${path} imports ${target}: ${folderOf(target)} is above ${folderOf(path)} in ${roomOf(path)}`]
}

/**
 * Imports between `src`, `scripts` and `test` that go the wrong way: the program needs neither of the others, what runs without the tests of
 * them only what they share with it (`test/support`), and tests no proof and no bench: theirs are in `scripts/test`.
 */
export function crossImports({ path, imports }: SourceFile): string[] {
  return imports.flatMap((target) => {
    const isWrong = CROSSING.some(
      ({ from, to, but }) => from.test(path) && to.test(target) && !but?.test(target),
    )
    return isWrong ? [`${path} imports ${target}: put what both need into ${sharedBy(path)}`] : []
  })
}

const CROSSING: readonly { readonly from: RegExp; readonly to: RegExp; readonly but?: RegExp }[] = [
  { from: /^src\//, to: /^(?:test|scripts)\// },
  { from: /^scripts\//, to: /^test\//, but: /^test\/support\// },
  { from: /^test\//, to: /^scripts\/(?:proofs|bench|test)\// },
]

function sharedBy(path: string): string {
  return path.startsWith('src/') ? 'src' : 'test/support'
}

/** Packages that only other folders may import. */
export function wrongPackages({ path, packages }: SourceFile): string[] {
  return packages.flatMap((name) => {
    const places = CONFINED[name]
    const isAllowed = places?.some((place) => roomOf(path) === place || path.startsWith(`${ROOT}/${place}/`))
    return isAllowed === false
      ? [`${path} imports ${name}, which only ${places?.join(', ') || 'nobody'} may`]
      : []
  })
}

/** Rooms that use each other, directly or over others: a room must be above all that it uses. */
export function roomCircles(): string[] {
  const below = (room: string, seen: Set<string>): Set<string> => {
    for (const next of ROOMS[room]?.uses ?? []) if (!seen.has(next)) below(next, seen.add(next))
    return seen
  }
  return Object.keys(ROOMS)
    .filter((room) => below(room, new Set()).has(room))
    .map((room) => `the room ${room} is above itself`)
}

/** Rooms, doors of a room and levels of folders that are more than there may be, and folders with less than three files. */
export function tooWide(files: readonly SourceFile[]): string[] {
  const inRooms = files.filter(({ path }) => roomOf(path) !== '.')
  const rooms = [...new Set([...inRooms.map(({ path }) => roomOf(path)), 'web'])]
  const doors = rooms.map((room) => ({
    room,
    count: inRooms.filter(({ path }) => roomOf(path) === room && isDoor(path)).length,
  }))
  const folders = groupBy(inRooms, ({ path }) => path.split('/').slice(0, -1).join('/'))
  return [
    ...(rooms.length > MAX_ROOMS ? [`there are ${rooms.length} rooms, which is more than ${MAX_ROOMS}`] : []),
    ...doors
      .filter(({ count }) => count > MAX_DOORS)
      .map(({ room, count }) => `${ROOT}/${room} has ${count} doors, which is more than ${MAX_DOORS}`),
    ...[...folders.keys()]
      .filter((folder) => folder.split('/').length > DEEPEST)
      .map((folder) => `${folder} lies more than two folders deep in its room`),
    ...[...folders]
      .filter(([folder, inside]) => folder.split('/').length > 2 && inside.length < LEAST_FILES)
      .map(
        ([folder, { length }]) => `${folder} has ${length} files: put them beside those that they belong to`,
      ),
  ]
}

/** `src`, the room, and two folders. */
const DEEPEST = 4
const LEAST_FILES = 3

/** What a door passes on and no other room, script or shared part of the tests imports. */
export function unusedDoors(files: readonly SourceFile[]): string[] {
  const used = new Set(
    files.flatMap(({ path, named }) =>
      named
        .filter(({ target }) => roomOf(target) !== roomOf(path))
        .map(({ target, name }) => `${target} ${name}`),
    ),
  )
  return files.flatMap(({ path, passedOn }) =>
    passedOn
      .filter(({ name }) => !used.has(`${path} ${name}`))
      .map(({ name }) => `${path} passes ${name} on, and no other room imports it`),
  )
}

function mayUseRoot(room: string, target: string): boolean {
  const name = relative(ROOT, target).replace(/\.ts$/, '')
  return name in AT_THE_ROOT && (AT_THE_ROOT[name]?.includes(room) ?? true)
}

/** Whether a file lies right in the folder of its room. */
function isDoor(path: string): boolean {
  return path.split('/').length === 3
}

/** The folder of its room that a file lies in. */
function folderOf(path: string): string {
  return path.split('/')[2] ?? ''
}

/** The room of a file, the folder right below the root; `.` for files at the root. */
function roomOf(path: string): string {
  const [first = '', ...rest] = relative(ROOT, path).split('/')
  return rest.length === 0 ? '.' : first
}
