/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit protocol (design 5.2, controller/commit) as a model for spin: two replicas of the
 * controller of which one leads, a gang of two members, a pod with one claim, an API server whose
 * writes arrive late, the claim controller, the owner of the pods, and a user who deletes things
 * (or taints a device).
 * There are two devices for three claims.
 *
 * A write carries the resourceVersion that it was decided on: here each write under way has a bit
 * `valid` that any other write of its object clears. A leader waits for the answer to a write. When
 * it is lost (timeout, broken connection) the leader sends the same write again, on the same
 * resourceVersion, and waits for that answer; the first one stays under way and may arrive any time
 * later. When the leader loses its lease, so does all that it has sent. (That the answer of a write
 * which has arrived is lost is not played: the second one is refused, and nothing else changes.)
 *
 * Checked: I1 and I2 at every write (assertions), I3 when nothing can happen any more. Deliberate
 * mistakes, one at a time, each of which spin must find:
 *   -DSKIP_EPOCH_REWRITE     a new leader decides without rewriting what an old one may still write
 *   -DUNGATE_EARLY           a member is released when its own claim is written, not all
 *   -DDROP_MARKER            allocations do not say whose they are
 *   -DCLEAR_BEFORE_FENCING   a roll-back clears claims before it rewrites the epoch of the pods
 *   -DFORGET_HOLD            the device of a lost member counts as free
 *   -DTRUST_LOST_ANSWER      a write without an answer counts as not done
 *   -DRESEND_ON_NEW_VERSION  a write is sent again on the version that the object has by then
 *
 * Not in the model: more than one write of a leader at a time, placement, names of devices and nodes,
 * holds that run out and Recreate, pods that end.
 */

#ifndef TAKEOVERS
#define TAKEOVERS 1
#endif
#ifndef LOST_ANSWERS
#define LOST_ANSWERS 1
#endif
#ifndef DELETIONS
#define DELETIONS 2
#endif

#define NONE 3
#define SINGLE 2 /* index of the pod and claim beside the gang; members are 0 and 1 */

/* Objects by number: claims, pods (3 more), the Gang. */
#define POD(i) (3 + (i))
#define GANG 6

/* What the API server holds. A pod is created with its claim. Member i is planned on device i. */
bool pod[3] = true, gated[3] = true, claim[3] = true, ours[3] /* marker */;
byte allocated[3] = NONE;
bool gang = true, deleting, plan, releasing;
bool tainted; /* the device of the single claim */
bool member[2]; /* the pod that the plan names is still the one of that name */

/* It carries the epoch of who leads: nothing that a former leader decided can still be written. */
bool fenced_pod[3], fenced_claim[3];

/* --- writes under way ------------------------------------------------------------------------ */

mtype = { NOTHING, SET_PLAN, SET_MEMBER, SET_RELEASING, DROP_PLAN, ALLOCATE, CLEAR, UNGATE };
#define SLOTS 2
mtype kind[SLOTS] = NOTHING;
byte object[SLOTS], index[SLOTS], device[SLOTS];
bool valid[SLOTS];

#define EMPTY 9
byte waits_for = EMPTY; /* the slot of the write whose answer the leader waits for */

inline touch(o)
{
    valid[0] = valid[0] && object[0] != o;
    valid[1] = valid[1] && object[1] != o;
}

inline send(k, o, i, d)
{
    waits_for = (kind[0] == NOTHING -> 0 : 1);
    kind[waits_for] = k;
    object[waits_for] = o;
    index[waits_for] = i;
    device[waits_for] = d;
    valid[waits_for] = true;
}

/* A plan names pods by UID. One that is under way when a pod is deleted does not mean the next pod
 * of that name: bit i of its `device` tells whether it means the pod i that is there. */
#define MEANS(bits, i) (((bits) >> (i)) & 1)
#define BOTH 3
inline means_no_more(i)
{
    if
    :: kind[0] == SET_PLAN || kind[0] == SET_MEMBER -> device[0] = device[0] & (BOTH - (1 << i))
    :: else
    fi;
    if
    :: kind[1] == SET_PLAN || kind[1] == SET_MEMBER -> device[1] = device[1] & (BOTH - (1 << i))
    :: else
    fi
}

/* The answer to the write that the leader waits for is lost. */
inline lose(again)
{
#ifdef TRUST_LOST_ANSWER
    waits_for = EMPTY;
#else
    kind[again] = kind[1 - again];
    object[again] = object[1 - again];
    index[again] = index[1 - again];
    device[again] = device[1 - again];
#ifdef RESEND_ON_NEW_VERSION
    valid[again] = true;
#else
    valid[again] = valid[1 - again];
#endif
    waits_for = again
#endif
}

#define CAN_SEND (kind[0] == NOTHING || kind[1] == NOTHING)

/* --- what is checked ------------------------------------------------------------------------- */

#define HOLDS_ELSEWHERE(i, d)                                                                      \
    ((i != 0 && allocated[0] == d) || (i != 1 && allocated[1] == d) || (i != 2 && allocated[2] == d))
/* Of a member that was deleted meanwhile the user has broken the gang, not we. */
#define HAS_ITS_CLAIM(i) (!member[i] || (allocated[i] == i && ours[i]))

inline apply(s)
{
    if
    :: kind[s] == SET_PLAN ->
        plan = true;
        releasing = false;
        member[0] = MEANS(device[s], 0);
        member[1] = MEANS(device[s], 1)
    :: kind[s] == SET_MEMBER -> member[index[s]] = MEANS(device[s], index[s])
    :: kind[s] == SET_RELEASING -> releasing = true
    :: kind[s] == DROP_PLAN ->
        plan = false;
        releasing = false;
        member[0] = false;
        member[1] = false
    :: kind[s] == ALLOCATE ->
        assert(!HOLDS_ELSEWHERE(index[s], device[s])); /* I1 */
        allocated[index[s]] = device[s];
#ifndef DROP_MARKER
        ours[index[s]] = true
#endif
    :: kind[s] == CLEAR ->
        allocated[index[s]] = NONE;
        tainted = tainted && index[s] != SINGLE;
        ours[index[s]] = false
    :: kind[s] == UNGATE ->
        gated[index[s]] = false;
#ifndef DROP_MARKER
        assert(index[s] == SINGLE || (HAS_ITS_CLAIM(0) && HAS_ITS_CLAIM(1))); /* I2 */
#endif
        assert(allocated[index[s]] != NONE) /* I2 */
    fi
}

/* --- the API server -------------------------------------------------------------------------- */

inline arrive(s)
{
    if
    :: valid[s] ->
        apply(s);
        touch(object[s])
    :: else
    fi;
    kind[s] = NOTHING;
    valid[s] = false;
    object[s] = 0;
    index[s] = 0;
    device[s] = 0;
    if
    :: waits_for == s -> waits_for = EMPTY
    :: else
    fi
}

active proctype api_server()
{
end:
    do
    :: atomic { kind[0] != NOTHING -> arrive(0) }
    :: atomic { kind[1] != NOTHING -> arrive(1) }
    od
}

/* --- the controller -------------------------------------------------------------------------- */

byte leader;        /* which replica holds the lease */
bool settled = true; /* it has rewritten what its predecessor may still write */

#define RELEASED(i) (member[i] && pod[i] && !gated[i])
#define PAST (RELEASED(0) || RELEASED(1))
#define ALL_WRITTEN (allocated[0] == 0 && allocated[1] == 1)

/* Devices of a plan are taken from the plan on, those of a lost member as long as it is held. */
#ifdef FORGET_HOLD
#define PLANNED(d) (plan && member[d])
#else
#define PLANNED(d) (plan)
#endif
#define BUSY(d)                                                                                    \
    (allocated[0] == d || allocated[1] == d || allocated[2] == d || PLANNED(d))
#define BROKEN                                                                                     \
    (deleting || !member[0] || !member[1] || HOLDS_ELSEWHERE(0, 0) || HOLDS_ELSEWHERE(1, 1))
#define WAITS(i) (pod[i] && gated[i] && claim[i] && allocated[i] == NONE)
#define FENCED                                                                                     \
    ((fenced_pod[0] || !(pod[0] && gated[0])) && (fenced_pod[1] || !(pod[1] && gated[1])) &&       \
     (fenced_claim[0] || !claim[0] || allocated[0] != NONE) &&                                     \
     (fenced_claim[1] || !claim[1] || allocated[1] != NONE))
#define TO_CLEAR(i) (allocated[i] != NONE && ours[i] && pod[i] && gated[i])

inline fence_claim(i)
{
    if
    :: claim[i] && allocated[i] == NONE && !fenced_claim[i] ->
        touch(i);
        fenced_claim[i] = true
    :: else
    fi
}

inline fence_pod(i)
{
    if
    :: pod[i] && gated[i] && !fenced_pod[i] ->
        touch(POD(i));
        fenced_pod[i] = true
    :: else
    fi
}

/* The first thing that a new leader does: claims that may still be allocated, the Gang, and the pods
 * of its plan. A pod without a plan is fenced when what it has is taken back. */
inline take_over()
{
    d_step {
        fenced_pod[0] = false;
        fenced_pod[1] = false;
        fenced_pod[SINGLE] = false;
        fenced_claim[0] = false;
        fenced_claim[1] = false;
        fenced_claim[SINGLE] = false;
#ifndef SKIP_EPOCH_REWRITE
        fence_claim(0);
        fence_claim(1);
        fence_claim(SINGLE);
        if
        :: gang && plan ->
            touch(GANG);
            fence_pod(0);
            fence_pod(1)
        :: else
        fi
#endif
    }
}

/* What a roll-back does for its gang before it clears anything. */
inline fence_gang()
{
    d_step {
        fence_claim(0);
        fence_claim(1);
        fence_pod(0);
        fence_pod(1)
    }
}

inline release_member()
{
    if
#ifdef UNGATE_EARLY
    :: member[0] && pod[0] && gated[0] && allocated[0] == 0 -> send(UNGATE, POD(0), 0, 0)
    :: member[1] && pod[1] && gated[1] && allocated[1] == 1 -> send(UNGATE, POD(1), 1, 0)
    :: else -> skip
#else
    :: member[0] && pod[0] && gated[0] -> send(UNGATE, POD(0), 0, 0)
    :: member[1] && pod[1] && gated[1] -> send(UNGATE, POD(1), 1, 0)
#endif
    fi
}

#define A_GATE_IS_LEFT ((member[0] && pod[0] && gated[0]) || (member[1] && pod[1] && gated[1]))
#ifdef UNGATE_EARLY
#define MAY_RELEASE                                                                                \
    ((member[0] && pod[0] && gated[0] && allocated[0] == 0) ||                                     \
     (member[1] && pod[1] && gated[1] && allocated[1] == 1))
#else
#define MAY_RELEASE (ALL_WRITTEN && A_GATE_IS_LEFT)
#endif
#define LOST(i) (!member[i])
#define OPEN_CLAIM(i) (member[i] && claim[i] && allocated[i] == NONE)

/* One write of the leader, decided on what the server holds now. The order is that of the code:
 * a roll-back goes before anything else of the gang. */
#define NO_PLAN (gang && !plan)
#define BEFORE (gang && plan && !PAST)
#define AFTER (gang && plan && PAST)

proctype replica(byte me)
{
end:
    do
    /* A new leader: before its first decision. */
    :: atomic { leader == me && !settled ->
        take_over();
        settled = true }

#define DECIDES                                                                                    \
    (leader == me && settled && waits_for == EMPTY && CAN_SEND)

    /* -- no Gang, no plan -- */
    :: atomic { DECIDES && !gang && (pod[0] || pod[1]) -> gang = true; touch(GANG) }
    :: atomic { DECIDES && NO_PLAN && deleting -> gang = false; deleting = false; touch(GANG) }
#ifdef CLEAR_BEFORE_FENCING
    :: atomic { DECIDES && NO_PLAN && TO_CLEAR(0) -> send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && NO_PLAN && TO_CLEAR(1) -> send(CLEAR, 1, 1, 0) }
#else
    :: atomic { DECIDES && NO_PLAN && (TO_CLEAR(0) || TO_CLEAR(1)) && !FENCED -> fence_gang() }
    :: atomic { DECIDES && NO_PLAN && FENCED && TO_CLEAR(0) -> send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && NO_PLAN && FENCED && TO_CLEAR(1) -> send(CLEAR, 1, 1, 0) }
#endif
    :: atomic { DECIDES && NO_PLAN && !deleting && WAITS(0) && WAITS(1) && !BUSY(0) && !BUSY(1) ->
        send(SET_PLAN, GANG, 0, BOTH) }

    /* -- a plan, and no gate removed -- */
    :: atomic { DECIDES && BEFORE && BROKEN && !releasing -> send(SET_RELEASING, GANG, 0, 0) }
#ifdef CLEAR_BEFORE_FENCING
    :: atomic { DECIDES && BEFORE && releasing && TO_CLEAR(0) -> send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && TO_CLEAR(1) ->
        send(CLEAR, 1, 1, 0) }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && !TO_CLEAR(1) && !FENCED ->
        fence_gang() }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && !TO_CLEAR(1) && FENCED ->
        send(DROP_PLAN, GANG, 0, 0) }
#else
    :: atomic { DECIDES && BEFORE && releasing && !FENCED -> fence_gang() }
    :: atomic { DECIDES && BEFORE && releasing && FENCED && TO_CLEAR(0) -> send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && BEFORE && releasing && FENCED && TO_CLEAR(1) -> send(CLEAR, 1, 1, 0) }
    :: atomic { DECIDES && BEFORE && releasing && FENCED && !TO_CLEAR(0) && !TO_CLEAR(1) ->
        send(DROP_PLAN, GANG, 0, 0) }
#endif
    :: atomic { DECIDES && BEFORE && !BROKEN && !releasing && OPEN_CLAIM(0) ->
        send(ALLOCATE, 0, 0, 0) }
    :: atomic { DECIDES && BEFORE && !BROKEN && !releasing && OPEN_CLAIM(1) ->
        send(ALLOCATE, 1, 1, 1) }
    :: atomic { DECIDES && BEFORE && !BROKEN && !releasing && MAY_RELEASE -> release_member() }

    /* -- a gate was removed -- */
    :: atomic { DECIDES && AFTER && MAY_RELEASE -> release_member() }
    /* The replacement of a lost member gets the device that was held for it. */
    :: atomic { DECIDES && AFTER && !deleting && LOST(0) && WAITS(0) -> send(SET_MEMBER, GANG, 0, BOTH) }
    :: atomic { DECIDES && AFTER && !deleting && LOST(1) && WAITS(1) -> send(SET_MEMBER, GANG, 1, BOTH) }
    :: atomic { DECIDES && AFTER && OPEN_CLAIM(0) -> send(ALLOCATE, 0, 0, 0) }
    :: atomic { DECIDES && AFTER && OPEN_CLAIM(1) -> send(ALLOCATE, 1, 1, 1) }
    /* The Gang is let go when no gate is left; the pods stay. */
    :: atomic { DECIDES && AFTER && deleting && !A_GATE_IS_LEFT ->
        gang = false;
        deleting = false;
        plan = false;
        releasing = false;
        member[0] = false;
        member[1] = false;
        touch(GANG) }

    /* -- the single claim -- */
    :: atomic { DECIDES && WAITS(SINGLE) && !BUSY(0) -> send(ALLOCATE, SINGLE, SINGLE, 0) }
    :: atomic { DECIDES && WAITS(SINGLE) && !BUSY(1) -> send(ALLOCATE, SINGLE, SINGLE, 1) }
    :: atomic { DECIDES && pod[SINGLE] && gated[SINGLE] && allocated[SINGLE] != NONE && !tainted ->
        send(UNGATE, POD(SINGLE), SINGLE, 0) }
    :: atomic { DECIDES && TO_CLEAR(SINGLE) && tainted ->
#ifndef CLEAR_BEFORE_FENCING
        fence_pod(SINGLE);
#endif
        send(CLEAR, SINGLE, SINGLE, 0) }
    od
}

/* --- faults and others ----------------------------------------------------------------------- */

active proctype faults()
{
    byte takeovers = TAKEOVERS, lost = LOST_ANSWERS;

end:
    do
    :: atomic { takeovers > 0 ->
        takeovers--;
        leader = 1 - leader;
        settled = false;
        waits_for = EMPTY }
    :: atomic { lost > 0 && waits_for == 0 && kind[1] == NOTHING -> lost--; lose(1) }
    :: atomic { lost > 0 && waits_for == 1 && kind[0] == NOTHING -> lost--; lose(0) }
    od
}

inline delete_pod(i)
{
    pod[i] = false;
    gated[i] = false;
    touch(POD(i));
    if
    :: i < SINGLE ->
        member[i] = false;
        means_no_more(i)
    :: else
    fi
}

active proctype user()
{
    byte deletions = DELETIONS;

end:
    do
    :: atomic { deletions > 0 && pod[0] -> deletions--; delete_pod(0) }
    :: atomic { deletions > 0 && pod[1] -> deletions--; delete_pod(1) }
    :: atomic { deletions > 0 && pod[SINGLE] -> deletions--; delete_pod(SINGLE) }
    /* With a plan it has a finalizer, and stays until the controller lets it go. */
    :: atomic { deletions > 0 && gang && !deleting ->
        deletions--;
        if
        :: plan -> deleting = true
        :: else -> gang = false
        fi;
        touch(GANG) }
    :: atomic { deletions > 0 && pod[SINGLE] && gated[SINGLE] && allocated[SINGLE] != NONE ->
        deletions--;
        tainted = true }
    /* Somebody who may takes the finalizer away. */
    :: atomic { deletions > 0 && gang && plan && !PAST ->
        deletions--;
        gang = false;
        deleting = false;
        plan = false;
        releasing = false;
        member[0] = false;
        member[1] = false;
        touch(GANG) }
    od
}

/* The claim of a pod that is gone is released and deleted; the owner creates the pod anew. */
inline clean_up(i)
{
    claim[i] = false;
    allocated[i] = NONE;
    tainted = tainted && i != SINGLE;
    ours[i] = false;
    touch(i)
}

inline create(i)
{
    pod[i] = true;
    gated[i] = true;
    claim[i] = true;
    fenced_pod[i] = false;
    fenced_claim[i] = false;
    touch(i);
    touch(POD(i))
}

active proctype others()
{
end:
    do
    :: atomic { !pod[0] && claim[0] -> clean_up(0) }
    :: atomic { !pod[1] && claim[1] -> clean_up(1) }
    :: atomic { !pod[SINGLE] && claim[SINGLE] -> clean_up(SINGLE) }
    :: atomic { !pod[0] && !claim[0] -> create(0) }
    :: atomic { !pod[1] && !claim[1] -> create(1) }
    od
}

/* --- I3 -------------------------------------------------------------------------------------- */

#define STUCK(i) (pod[i] && gated[i] && allocated[i] != NONE)
#define STARTED_WITHOUT(i) (pod[i] && !gated[i] && allocated[i] == NONE)

init
{
    atomic {
        run replica(0);
        run replica(1)
    };
    /* Nothing can happen any more. */
    timeout ->
    assert(!STUCK(0) && !STUCK(1) && !STUCK(SINGLE));
    assert(!STARTED_WITHOUT(0) && !STARTED_WITHOUT(1) && !STARTED_WITHOUT(SINGLE));
    assert(!plan || (RELEASED(0) && RELEASED(1)));
    assert((allocated[0] == NONE) == (allocated[1] == NONE) || !gang || !plan)
}
