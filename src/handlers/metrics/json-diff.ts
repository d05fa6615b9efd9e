import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { typeWord } from '../handler-failure.ts'
import type { TimeSlice } from '../../scheduling/cooperative.ts'
import { equalLoosely } from './equal-loosely.ts'

/** How documents are compared. */
export interface JsonDiffOptions {
  /** Agree where the types do, integer and float being two, instead of the values. */
  readonly comparesTypesOnly: boolean
  /** Leaves that only the output has count, too. */
  readonly countsExtraLeaves: boolean
  readonly ignoresKeyCase: boolean
}

/**
 * The share of leaves in which a document agrees with the one that is expected (contract/handlers 2.3). A leaf is anything but an object
 * or array, known by its path: keys and indexes joined by dots, so `{"a.b": 1}` and `{"a": {"b": 1}}` have the same; of two leaves with
 * one path the later counts. A null agrees with nothing. 0 where there are no leaves. Takes time that grows with the documents only;
 * throws what `slice` does.
 */
export async function jsonDiff(
  expected: Json,
  actual: Json,
  options: JsonDiffOptions,
  slice: TimeSlice,
): Promise<number> {
  const root = new PathNode()
  const leaves = new Set<PathNode>()
  for (const [node, value] of leavesOf(expected, root, options)) {
    node.expected = value
    leaves.add(node)
    if (leaves.size % STRETCH === 0) await slice.pause()
  }
  let count = 0
  for (const [node, value] of leavesOf(actual, root, options)) {
    node.actual = value
    if (options.countsExtraLeaves) leaves.add(node)
    if (++count % STRETCH === 0) await slice.pause()
  }
  let sum = 0
  for (const leaf of leaves) if (agrees(leaf, options)) sum++
  return leaves.size === 0 ? 0 : sum / leaves.size
}

/** Leaves that are taken at a time. */
const STRETCH = 1000

/** A path, step by step: joined paths of deep documents would be far larger than they are. */
class PathNode {
  #children: Map<string, PathNode> | undefined
  expected: Json = null
  actual: Json = null

  child(step: string): PathNode {
    this.#children ??= new Map()
    let child = this.#children.get(step)
    if (!child) this.#children.set(step, (child = new PathNode()))
    return child
  }
}

function* leavesOf(
  document: Json,
  root: PathNode,
  { ignoresKeyCase }: JsonDiffOptions,
): Generator<readonly [PathNode, Json]> {
  const open = [{ node: root, members: membersOf(document) }]
  for (let last = open.at(-1); last !== undefined; last = open.at(-1)) {
    const next = last.members?.next()
    if (next === undefined || next.done === true) {
      open.pop()
      continue
    }
    const [key, value] = next.value
    const node =
      typeof key === 'number' ? last.node.child(String(key)) : follow(last.node, key, ignoresKeyCase)
    const members = membersOf(value)
    if (members) open.push({ node, members })
    else yield [node, value]
  }
}

/** What is in an object or array, by key or index. */
function membersOf(value: Json): Iterator<readonly [string | number, Json]> | undefined {
  if (isJsonArray(value)) return value.entries()
  return isJsonObject(value) ? entriesOf(value).values() : undefined
}

function follow(node: PathNode, key: string, ignoresKeyCase: boolean): PathNode {
  const steps = ignoresKeyCase ? key.toLowerCase() : key
  return steps.includes('.') ? steps.split('.').reduce((at, step) => at.child(step), node) : node.child(steps)
}

function agrees({ expected, actual }: PathNode, { comparesTypesOnly }: JsonDiffOptions): boolean {
  if (expected === null || actual === null) return false
  return comparesTypesOnly ? typeWord(expected) === typeWord(actual) : equalLoosely(expected, actual)
}
