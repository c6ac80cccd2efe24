"""Battles: what a player names: a battle, a campaign, its territories and their outcomes."""
