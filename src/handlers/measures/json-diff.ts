import { entriesOf, isJsonArray, isJsonObject, type Json } from '../../json/json.ts'
import { typeWord } from '../handler-failure.ts'
import { equalLoosely } from './equal-loosely.ts'

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
 * one path the later counts. A null agrees with nothing. 0 where there are no leaves. Takes time that grows with the documents only.
 */
export function jsonDiff(expected: Json, actual: Json, options: JsonDiffOptions): number {
  const root = new PathNode()
  const leaves = new Set<PathNode>()
  const { ignoresKeyCase, countsExtraLeaves } = options
  collect(expected, root, ignoresKeyCase, (node, value) => leaves.add(node.expect(value)))
  collect(actual, root, ignoresKeyCase, (node, value) => {
    node.actual = value
    if (countsExtraLeaves) leaves.add(node)
  })
  let sum = 0
  for (const leaf of leaves) if (agrees(leaf, options)) sum++
  return leaves.size === 0 ? 0 : sum / leaves.size
}

/** A path, step by step: joined paths of deep documents would be far larger than they are. */
class PathNode {
  readonly #children = new Map<string, PathNode>()
  expected: Json = null
  actual: Json = null

  expect(value: Json): this {
    this.expected = value
    return this
  }

  child(step: string): PathNode {
    let child = this.#children.get(step)
    if (!child) this.#children.set(step, (child = new PathNode()))
    return child
  }
}

function collect(
  value: Json,
  root: PathNode,
  ignoresKeyCase: boolean,
  leaf: (node: PathNode, value: Json) => void,
): void {
  const go = (at: PathNode, member: Json, isRoot: boolean): void => {
    if (isJsonArray(member)) {
      for (const [index, item] of member.entries()) go(at.child(String(index)), item, false)
    } else if (isJsonObject(member)) {
      for (const [key, item] of entriesOf(member)) go(follow(at, key, ignoresKeyCase), item, false)
    } else if (!isRoot) leaf(at, member)
  }
  go(root, value, true)
}

function follow(node: PathNode, key: string, ignoresKeyCase: boolean): PathNode {
  const steps = ignoresKeyCase ? key.toLowerCase() : key
  return steps.includes('.') ? steps.split('.').reduce((at, step) => at.child(step), node) : node.child(steps)
}

function agrees({ expected, actual }: PathNode, { comparesTypesOnly }: JsonDiffOptions): boolean {
  if (expected === null || actual === null) return false
  return comparesTypesOnly ? typeWord(expected) === typeWord(actual) : equalLoosely(expected, actual)
}
