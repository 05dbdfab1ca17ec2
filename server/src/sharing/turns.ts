/**
 * Members that wait for their turn. Groups take turns, and within a group its members, so that a group with many members delays
 * the others by one each.
 */
export class Turns<Member> {
  /** Groups with members, in the order of their turns. So are the members. */
  readonly #groups = new Map<string, Set<Member>>()

  /** The member is last. If it waits already, it keeps its place. */
  add(group: string, member: Member): void {
    const members = this.#groups.get(group)
    if (members) members.add(member)
    else this.#groups.set(group, new Set([member]))
  }

  delete(group: string, member: Member): void {
    const members = this.#groups.get(group)
    if (members?.delete(member) && members.size === 0) this.#groups.delete(group)
  }

  /**
   * The result of the next member for which `take` returns one. It no longer waits, and nor do those before it that returned
   * none. Groups that may not go now keep their place.
   */
  next<Result>(
    take: (member: Member) => Result | undefined,
    mayGo: (group: string) => boolean = always,
  ): Result | undefined {
    for (const [group, members] of this.#groups) {
      if (!mayGo(group)) continue
      this.#groups.delete(group)
      for (const member of members) {
        members.delete(member)
        const result = take(member)
        if (result === undefined) continue
        if (members.size > 0) this.#groups.set(group, members)
        return result
      }
    }
    return undefined
  }
}

const always = (): boolean => true

/** Lets members take something in turn, until `take` returns false for each. */
export function takeInTurn<Member>(
  members: Iterable<Member>,
  groupOf: (member: Member) => string,
  take: (member: Member) => boolean,
): void {
  const turns = new Turns<Member>()
  for (const member of members) turns.add(groupOf(member), member)
  const ask = (member: Member) => (take(member) ? member : undefined)
  for (let member = turns.next(ask); member !== undefined; member = turns.next(ask)) turns.add(groupOf(member), member)
}
