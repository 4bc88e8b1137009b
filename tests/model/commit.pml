/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit protocol (design 5.2, controller/commit) as a model for spin: two replicas of the
 * controller of which one leads, a gang of two members, a pod with one claim, an API server whose
 * writes arrive late, the claim controller, the owner of the pods, and a user who deletes things
 * (or taints a device).
 * There are two devices for three claims.
 *
 * A write carries the resourceVersion that it was decided on: here each write under way has a bit
 * `valid` that any other write of its object clears. A leader waits for the answer to a write, or
 * gives it up (timeout, lost connection) or loses the lease; the write stays under way all the same
 * and may arrive any time later.
 *
 * Checked: I1 and I2 at every write (assertions), I3 when nothing can happen any more. Deliberate
 * mistakes, one at a time, each of which spin must find:
 *   -DSKIP_EPOCH_REWRITE     a new leader decides without rewriting what an old one may still write
 *   -DUNGATE_EARLY           a member is released when its own claim is written, not all
 *   -DDROP_MARKER            allocations do not say whose they are
 *   -DCLEAR_BEFORE_FENCING   a roll-back clears claims before it rewrites the epoch of the pods
 *   -DFORGET_HOLD            the device of a lost member counts as free
 *   -DTRUST_LOST_ANSWER      an allocation without an answer counts as not done
 *   -DFENCE_ONCE             what was fenced in this epoch is not fenced again by the next roll-back
 *   -DKEEP_RELEASING         a roll-back that a late un-gating has overtaken is not ended first
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

/* Fenced since the roll-back began: nothing decided earlier can still be written. */
bool fenced_pod[2], fenced_claim[2];

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
    :: kind[s] == SET_RELEASING ->
        releasing = true;
#ifndef FENCE_ONCE
        fenced_pod[0] = false;
        fenced_pod[1] = false;
        fenced_claim[0] = false;
        fenced_claim[1] = false
#endif
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
byte uncertain = NONE; /* the claim whose allocation had no answer */

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
     (fenced_claim[0] || allocated[0] != NONE) && (fenced_claim[1] || allocated[1] != NONE))
#define TO_CLEAR(i) (allocated[i] != NONE && ours[i] && pod[i] && gated[i])

/* The first thing that a new leader does, and what a roll-back does for its gang. */
inline fence_all()
{
    d_step {
        touch(0);
        touch(1);
        touch(SINGLE);
        touch(POD(0));
        touch(POD(1));
        touch(GANG);
        fenced_pod[0] = true;
        fenced_pod[1] = true;
        fenced_claim[0] = true;
        fenced_claim[1] = true
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
#ifdef KEEP_RELEASING
#define AFTER (gang && plan && PAST)
#else
#define AFTER (gang && plan && PAST && !releasing)
#endif

proctype replica(byte me)
{
end:
    do
    /* A new leader: before its first decision. */
    :: atomic { leader == me && !settled ->
#ifndef SKIP_EPOCH_REWRITE
        fence_all();
#endif
        uncertain = NONE;
        settled = true }

    /* The answer to an allocation was lost: whether it will still happen nobody knows, so the
     * epoch of the claim is rewritten before its device can count as free. */
    :: atomic { leader == me && settled && uncertain != NONE ->
#ifndef TRUST_LOST_ANSWER
        touch(uncertain);
#endif
        uncertain = NONE }

#define DECIDES                                                                                    \
    (leader == me && settled && uncertain == NONE && waits_for == EMPTY && CAN_SEND)

    /* -- no Gang, no plan -- */
    :: atomic { DECIDES && !gang && (pod[0] || pod[1]) -> gang = true; touch(GANG) }
    :: atomic { DECIDES && NO_PLAN && deleting -> gang = false; deleting = false; touch(GANG) }
    :: atomic { DECIDES && NO_PLAN && TO_CLEAR(0) -> touch(POD(0)); send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && NO_PLAN && TO_CLEAR(1) -> touch(POD(1)); send(CLEAR, 1, 1, 0) }
    :: atomic { DECIDES && NO_PLAN && !deleting && WAITS(0) && WAITS(1) && !BUSY(0) && !BUSY(1) ->
        send(SET_PLAN, GANG, 0, BOTH) }

    /* -- a plan, and no gate removed -- */
    :: atomic { DECIDES && BEFORE && BROKEN && !releasing -> send(SET_RELEASING, GANG, 0, 0) }
#ifdef CLEAR_BEFORE_FENCING
    :: atomic { DECIDES && BEFORE && releasing && TO_CLEAR(0) -> send(CLEAR, 0, 0, 0) }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && TO_CLEAR(1) ->
        send(CLEAR, 1, 1, 0) }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && !TO_CLEAR(1) && !FENCED ->
        fence_all() }
    :: atomic { DECIDES && BEFORE && releasing && !TO_CLEAR(0) && !TO_CLEAR(1) && FENCED ->
        send(DROP_PLAN, GANG, 0, 0) }
#else
    :: atomic { DECIDES && BEFORE && releasing && !FENCED -> fence_all() }
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
    /* By a write from before the roll-back began, which is over then: what it has fenced does not
     * count for the next one. */
#ifndef KEEP_RELEASING
    :: atomic { DECIDES && gang && plan && PAST && releasing -> releasing = false; touch(GANG) }
#endif
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
        touch(POD(SINGLE));
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
    :: atomic { lost > 0 && waits_for != EMPTY ->
        lost--;
        uncertain = (kind[waits_for] == ALLOCATE -> index[waits_for] : uncertain);
        waits_for = EMPTY }
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
